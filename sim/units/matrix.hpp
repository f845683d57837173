// The matrix unit. Products: head + ceil(m) ceil(n) ceil(k) in steps of its array; operand latches
// and group scales fill beside them, and what they need beyond the products stalls the unit. A
// drain leaves at the slower of the drain rate and the exchange path, whose latency does not hold
// the unit. (accelerator.md 1.1, 4.2)
#pragma once
#include "sim/units/compute_unit.hpp"

namespace daybreak::sim {

// Throws InvariantError for formats the unit does not multiply.
Cost matrix_cost(const CoreConfig&, const isa::Instruction&, const isa::Work&);

class MatrixUnit : public ComputeUnit {
 public:
  MatrixUnit(const sc_core::sc_module_name& name, RunState& run, CoreState& core,
             TaskKeeper& keeper)
      : ComputeUnit(name, run, core, keeper, isa::Queue::matrix) {}

 protected:
  Cost cost(const isa::Instruction& i, const isa::Work& w) const override {
    return matrix_cost(run_.config.core, i, w);
  }
};

}  // namespace daybreak::sim
