// The control processor of a core. It issues the task's instructions in program order into the
// FIFOs of the units, `issue_cycles` each; a full FIFO stalls it. Scalar instructions, translation
// on a chip without a walker and the descriptors of a software gather take its time in line with
// issue. It runs ahead of simulated time as far as FIFO places are known to be free.
//
// Costs (accelerator.md 1.2, 4.2): scalar operation 1 cycle; a scalar load that the next step
// depends on `scalar_load`; software gather one load, then `descriptor_issue` per index entry (the
// loads of further entries do not depend on one another and hide behind the building).
#pragma once
#include <array>

#include "sim/units/queue_unit.hpp"

namespace daybreak::sim {

class Control : public Module, public Waiter {
 public:
  Control(const sc_core::sc_module_name&, RunState&, CoreState&, TaskKeeper&,
          const std::array<QueueUnit*, isa::kQueues>& queues);

  void begin_task(Cycle start);
  void end_task(Cycle end) { track_.until(end, traces::Cause::no_task, core_.task.launch); }
  void resume() override;
  // A FIFO that issue may be waiting for has a start decided.
  void started(isa::Queue q) {
    if (q == full_) resume();
  }
  // Cycle by which everything has been issued; kNever before that is known.
  Cycle issued_at() const { return next_ == core_.task.program.code.size() ? time_ : kNever; }
  const Knowledge& knowledge(Sequence finished) const { return history_[finished]; }
  Track& track() { return track_; }
  std::string waiting() const;

 protected:
  void step(Cycle now) override;

 private:
  void advance(Cycle now);
  bool issue_next();
  bool run_here(const isa::Entry&);
  Cycle cost(const isa::Work&) const;
  void check_order(const InFlight&);
  bool finish(Cycle now);

  CoreState& core_;
  TaskKeeper& keeper_;
  Track track_;
  std::array<QueueUnit*, isa::kQueues> queues_;
  uint32_t next_ = 0;
  Cycle time_ = 0;                         // when the processor is free for entry next_
  isa::Queue full_ = isa::Queue::control;  // FIFO that holds issue; control: none
  bool active_ = false, running_ = false;
  InFlight flight_;                 // its own instruction in progress
  std::vector<Knowledge> history_;  // by number of own instructions finished
};

}  // namespace daybreak::sim
