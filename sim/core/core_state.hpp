// What the units of one core share: scratchpads, semaphores, the task in progress, its order
// checker.
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "sim/core/counters.hpp"
#include "sim/core/run_state.hpp"
#include "sim/core/scratch_order.hpp"
#include "sim/core/semaphores.hpp"
#include "sim/core/workspace.hpp"

namespace daybreak::sim {

// What a task needs to start.
struct Task {
  uint32_t launch = 0, number = 0;
  isa::TaskProgram program;
  Counters* counters = nullptr;  // of the launch
  Cycle chosen = 0;              // the scheduler began to dispatch it to this core
  Cycle dispatched = 0, start = 0;
};

// An instruction between its start and its retirement.
struct InFlight {
  uint32_t entry = 0;
  Sequence sequence = 0;
  Cycle issued = 0, started = 0, retires = 0;
  int32_t slot = 0;
  Knowledge knowledge;  // what its queue knew when it started
  isa::Work work;
  Cycle descriptors = 0;  // of the control processor, before its issue
  traces::ComputeParts parts;
  traces::MoveStages move;
  size_t signals_given = 0;
  bool executed = false;
};

class CoreState {
 public:
  CoreState(RunState& run, int number);

  void begin_task(Task&&);
  const isa::Entry& entry(uint32_t index) const { return task.program.code[index]; }
  isa::Context context();
  const Toucher toucher(isa::Queue, uint32_t entry, Sequence) const;

  // Checks and records the scratch operands of an entry. `seen` is what its queue knows.
  void check_scratch(isa::Queue, uint32_t entry, Sequence, const Sequences& seen);
  // The same for memory, given the pieces it moves.
  void check_memory(const Toucher&, const Knowledge&, Address, int64_t bytes, bool write);
  // Operands in memory that no segment shows: generations and request entries of a gather, the page
  // table of a translate.
  void check_hidden_reads(isa::Queue, uint32_t entry, Sequence, const Knowledge&);
  void execute(uint32_t entry);
  // Adds a retired instruction to the launch's totals and tells the observers.
  void retired(const InFlight&, int32_t unit, Cycle at);
  void flow(int32_t from, Cycle given, int32_t to, Cycle start) const;

  RunState& run;
  const int number;
  isa::Scratch scratch;
  Semaphores semaphores;
  ScratchOrder order;
  Task task;
  bool busy = false;                                              // a task is on the core
  size_t remaining = 0;                                           // entries that have not retired
  std::array<std::vector<uint32_t>, isa::kQueues> queue_entries;  // by queue, in issue order
  std::array<int32_t, isa::kQueues> units{};                      // unit id of each queue
  Workspace workspace;

 private:
  void check_task() const;
};

}  // namespace daybreak::sim
