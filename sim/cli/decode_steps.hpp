// `run dsa_decode steps=N`: decode steps one after the other over a KV cache, each simulated alone from
// cold on-chip caches, as after the other layers of a model.
#pragma once
#include <string>

#include "sim/cli/kernel_run.hpp"

namespace daybreak::cli {

// Rows: the last exact step and the last that reused a list. Totals: of all steps. Verdicts: one of each
// name, that of the first step that failed. A trace is kept of the first step.
Simulated simulate_steps(const KernelCase&, const sim::ChipConfig&, const CommonOptions&,
                         const std::string& trace_folder);

}  // namespace daybreak::cli
