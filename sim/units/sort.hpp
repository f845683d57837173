// The sort units of a core. Method merge: every pass pays the head, then records at the unit's rate
// (sort32 passes and 4-way merges, accelerator.md 1.3). Method histogram: `select_levels` passes
// over the scores find the k-th, a compaction at the extract rate takes the chosen ones out (1.4,
// 950 top-k); its output is in position order already.
#pragma once
#include "sim/units/compute_unit.hpp"

namespace daybreak::sim {

Cost sort_cost(const SortConfig&, const isa::Instruction&, const isa::Work&);

class SortUnit : public ComputeUnit {
 public:
  SortUnit(const sc_core::sc_module_name& name, RunState& run, CoreState& core, TaskKeeper& keeper)
      : ComputeUnit(name, run, core, keeper, isa::Queue::sort) {}

 protected:
  Cost cost(const isa::Instruction& i, const isa::Work& w) const override {
    return sort_cost(run_.config.core.sort, i, w);
  }
};

}  // namespace daybreak::sim
