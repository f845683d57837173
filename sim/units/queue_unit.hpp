// An in-order queue of instructions in front of a unit: FIFO slots, waits before an instruction
// starts, execution and signals when it retires (in order). Start times are decided as soon as
// everything they depend on is known, which may be some cycles ahead.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "sim/core/core_state.hpp"
#include "sim/core/module.hpp"
#include "sim/core/track.hpp"

namespace daybreak::sim {

// The core as its units see it.
class TaskKeeper {
 public:
  virtual ~TaskKeeper() = default;
  virtual void entry_retired(Cycle) = 0;  // may end the task
  // What the control processor knew when `control` of its own instructions had finished.
  virtual const Knowledge& control_knowledge(Sequence control) const = 0;
  virtual void started(isa::Queue) = 0;  // a FIFO slot has a time to be free
};

// Whether a DMA queue runs its instructions side by side or a unit runs one after the other.
enum class Inside : uint8_t { in_order, concurrent };

class QueueUnit : public Module, public Waiter {
 public:
  QueueUnit(const sc_core::sc_module_name&, RunState&, CoreState&, TaskKeeper&, isa::Queue, Inside,
            int slots);

  virtual void begin_task();
  virtual void end_task(Cycle end);
  // `control`: how many instructions of the control processor had finished when it was issued.
  // `descriptors`: cycles that it spent on the descriptors of this one.
  void push(uint32_t entry, Cycle arrival, Sequence control, Cycle descriptors = 0);
  // Cycle from which a further instruction can be pushed; kNever while that depends on a start
  // that is not decided yet.
  Cycle room_at() const;
  void resume() override;
  Track& track() { return track_; }
  isa::Queue queue() const { return queue_; }
  // What its oldest instruction waits for, for the deadlock report; empty if it has none.
  std::string waiting() const;

 protected:
  struct Queued {
    uint32_t entry;
    Cycle arrival;
    Sequence control;
    Cycle descriptors;
  };
  struct Started {
    InFlight flight;
    traces::Cause cause = traces::Cause::semaphore;  // of the time from its arrival to its start
    int64_t waits_for = traces::kNone;
  };
  // Takes the head of the queue off, if everything it waits for is known, to start at `not_before`
  // or later; registers for what is missing otherwise. `drained`: nothing is in flight in this
  // queue.
  std::optional<Started> decide(Cycle not_before, bool drained);
  // Tells those who wait for what the start of `entry` freed. Call when the own state is
  // consistent.
  void announce(uint32_t entry);
  // Executes and signals. False while a signal has no room; the unit is resumed when room comes.
  bool retire(InFlight&, Cycle now);
  // Totals, events, slot. May end the task: call it last, with the instruction off the own lists.
  void retired(const InFlight&, Cycle now);
  void account_start(const Started&);
  // Lets the unit go on; called after every change from outside.
  virtual void advance(Cycle now) = 0;
  // Of the oldest instruction in flight, for the deadlock report.
  virtual std::string waiting_inside() const = 0;
  const isa::Entry& entry(uint32_t index) const { return core_.entry(index); }
  const Queued* head() const { return fifo_.empty() ? nullptr : &fifo_.front(); }
  int64_t launch() const { return core_.task.launch; }
  std::string name_of_entry(uint32_t index) const;

  CoreState& core_;
  TaskKeeper& keeper_;
  Track track_;
  const isa::Queue queue_;

 private:
  int take_slot(Cycle from);

  const Inside inside_;
  std::deque<Queued> fifo_;
  std::vector<Cycle> starts_;  // ring of FIFO depth: start of the k-th instruction
  uint64_t pushed_ = 0, started_ = 0;
  Knowledge knowledge_;
  Sequence control_known_ = 0;
  std::vector<Cycle> slot_free_;
};

}  // namespace daybreak::sim
