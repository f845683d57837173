// The vector units of a core as one: an instruction is split over them. start-up + elements / rate
// per class; what bank conflicts and the path to the accumulator need beyond that stalls the unit.
// Results that cross that path arrive its latency later. (accelerator.md 1.3, 4.2)
#pragma once
#include "sim/units/compute_unit.hpp"

namespace daybreak::sim {

Cost vector_cost(const CoreConfig&, const isa::Instruction&, const isa::Work&);

class VectorUnit : public ComputeUnit {
 public:
  VectorUnit(const sc_core::sc_module_name& name, RunState& run, CoreState& core,
             TaskKeeper& keeper)
      : ComputeUnit(name, run, core, keeper, isa::Queue::vector) {}

 protected:
  Cost cost(const isa::Instruction& i, const isa::Work& w) const override {
    return vector_cost(run_.config.core, i, w);
  }
};

}  // namespace daybreak::sim
