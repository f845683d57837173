// One kernel case on one chip: what run and study share.
#pragma once
#include <memory>

#include "sim/cli/case.hpp"
#include "sim/cli/expert_case.hpp"
#include "sim/cli/simulate.hpp"

namespace daybreak::cli {

// A kernel case with the memory it lives in.
class PlannedCase {
 public:
  PlannedCase(const KernelCase&, const sim::ChipConfig&);
  kernels::Plan& plan() { return *plan_; }
  const Case* sequences() const { return case_.get(); }         // of all other kernels
  const ExpertCase* experts() const { return experts_.get(); }  // of an expert layer

 private:
  std::unique_ptr<Case> case_;
  std::unique_ptr<ExpertCase> experts_;
  std::unique_ptr<kernels::Plan> plan_;
};

Simulated simulate_case(const KernelCase&, const sim::ChipConfig&, const CommonOptions&,
                        const std::string& trace_folder);

}  // namespace daybreak::cli
