// One kernel case on one chip: what run and study share.
#pragma once
#include "sim/cli/case.hpp"
#include "sim/cli/simulate.hpp"

namespace daybreak::cli {

Simulated simulate_case(const KernelCase&, const sim::ChipConfig&, const CommonOptions&,
                        const std::string& trace_folder);

}  // namespace daybreak::cli
