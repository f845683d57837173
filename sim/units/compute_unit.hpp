// A unit that runs its instructions one after the other: matrix, vector, sort. Derived units only
// say what an instruction costs.
#pragma once
#include "sim/units/queue_unit.hpp"

namespace daybreak::sim {

// Cycles of one instruction: the unit works (`fixed` of them whatever the operands' size), the unit
// is held up by an operand path, and the result is on its way while the unit is free again.
struct Cost {
  Cycle busy = 0, stalled = 0, tail = 0, fixed = 0;
  bool operator==(const Cost&) const = default;
};

class ComputeUnit : public QueueUnit {
 public:
  ComputeUnit(const sc_core::sc_module_name&, RunState&, CoreState&, TaskKeeper&, isa::Queue);
  void begin_task() override;

 protected:
  virtual Cost cost(const isa::Instruction&, const isa::Work&) const = 0;
  void step(Cycle now) override;
  void advance(Cycle now) override;
  std::string waiting_inside() const override;

 private:
  static constexpr int kPlaces = 32;  // results on their way at once
  void retire_due(Cycle now);
  void begin(Started&&);

  std::deque<InFlight> flights_;
  Cycle free_ = 0;
  bool retiring_ = false, blocked_ = false;
};

}  // namespace daybreak::sim
