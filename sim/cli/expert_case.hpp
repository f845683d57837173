// A routed expert layer, or several one after the other, and the memory they live in.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "isa/memory/image.hpp"
#include "kernels/runtime/plan/expert_layer.hpp"
#include "sim/cli/arguments.hpp"
#include "sim/cli/simulate.hpp"

namespace daybreak::cli {

class ExpertCase {
 public:
  ExpertCase(const kernels::ExpertWorkload&, const sim::ChipConfig&);

  std::unique_ptr<kernels::Plan> plan();
  // What only the whole run shows: conversions, the workspace of converted weights against one expert,
  // figures for studies.
  void add_verdicts(Simulated&) const;
  // The experts each token of the first layer got: int32 (tokens, topk), ascending, -1 last.
  void record_routing(const std::string& file) const;
  const kernels::ExpertWorkload& workload() const { return workload_; }

 private:
  kernels::ExpertWorkload workload_;
  sim::ChipConfig chip_;
  std::optional<kernels::MemoryWorkspace> workspace_;
  isa::MemoryImage image_;
  isa::BindingTable bindings_;
  std::vector<std::unique_ptr<kernels::ExpertLayer>> layers_;
};

// The workload of `run moe` and of a study's run: model, tokens, format, shared, layers; routing and seed
// are options.
kernels::ExpertWorkload expert_workload(Arguments&, const CommonOptions&);
// What the model's file says, for the record.
std::vector<traces::Fact> facts_of(const kernels::ExpertModel&);

}  // namespace daybreak::cli
