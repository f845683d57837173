// One core group: control processor, units, scratchpads, semaphores; runs one task at a time.
#pragma once
#include <array>
#include <memory>

#include "sim/units/control.hpp"
#include "sim/units/dma.hpp"
#include "sim/units/matrix.hpp"
#include "sim/units/sort.hpp"
#include "sim/units/vector.hpp"

namespace daybreak::sim {

// Told when a core's task ends, which may be a cycle that lies ahead.
class TaskSink {
 public:
  virtual ~TaskSink() = default;
  virtual void task_ended(int core, Cycle end) = 0;
};

class Core : public sc_core::sc_module, public TaskKeeper {
 public:
  Core(const sc_core::sc_module_name&, RunState&, int number, MemoryPort&, TaskSink&);

  void begin(Task&&);
  // Closes the accounts of a core at the end of the run.
  void close(Cycle end);
  // Who waits for whom, one line per stuck unit; empty if no task is on the core.
  std::string waiting() const;

  void entry_retired(Cycle) override;
  int64_t workspace_bytes() const { return state_.workspace.bytes(); }
  const Knowledge& control_knowledge(Sequence s) const override { return control_.knowledge(s); }
  void started(isa::Queue q) override { control_.started(q); }

 private:
  template <class F> void each_track(F&& f) {
    f(control_.track());
    for (QueueUnit* u : queues_)
      if (u) f(u->track());
  }

  RunState& run_;
  CoreState state_;
  TaskSink& sink_;
  DmaEngine engine_;
  DmaQueue dma_in_, dma_out_;
  MatrixUnit matrix_;
  VectorUnit vector_;
  SortUnit sort_;
  std::array<QueueUnit*, isa::kQueues> queues_;  // by queue; none for control
  Control control_;
  Cycle last_ = 0;  // latest retirement of the task
};

}  // namespace daybreak::sim
