// Perfetto protobuf trace of a run, written as it happens. Field numbers: spec/perfetto.md.
//
// One tick of the file (1 ns to its readers) is one cycle of the core clock; the slice "run"
// carries clock_hz. A process per core and one for the chip. Tracks:
//   chip    run, launches, units outside the cores, counters "memory traffic asked for", "instructions
//           queued" (issued, not started) and "transfers outstanding" (instructions that move data)
//   core N  tasks, then per unit one track per slot (its instructions, started to retired) and one
//           track "UNIT state" (busy or the cause of the stall: its slices tile the run)
// Flows join the instruction that signalled to the one that waited. The last instructions of each
// unit are held back so that a flow can still name its producer; older producers get no arrow, see
// flows_dropped(). Behind a cap on the size only launches, tasks and counters follow; the slice
// "run" says how many events were dropped. The file appears under its name only when the run has ended (AtomicFile).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "traces/event/event.hpp"

namespace daybreak::traces {

// What a trace holds; each level adds to the one before: launches, then tasks, then instructions,
// unit states and flows.
enum class TraceLevel : uint8_t { kernel, task, instruction };
// "kernel", "task" or "instruction"; anything else is a UserError that lists them.
TraceLevel trace_level(std::string_view word);

struct PerfettoOptions {
  TraceLevel level = TraceLevel::instruction;
  double clock_hz = 0;                    // of the core clock
  std::string chip;                       // its name
  std::vector<std::string> kernels = {};  // names of the tasks, by launch number
  int64_t max_bytes = 0;  // beyond it instructions, unit states and flows are dropped; 0: no cap
};

class PerfettoWriter : public Observer {
 public:
  PerfettoWriter(std::string path, PerfettoOptions options);
  ~PerfettoWriter() override;

  void unit(const UnitInfo&) override;
  void span(const UnitSpan&) override;
  void instruction(const InstructionEvent&) override;
  void flow(const FlowEvent&) override;
  void task(const TaskEvent&) override;
  void launch(const LaunchEvent&) override;
  void end(int64_t cycles) override;

  int64_t flows_written() const;
  int64_t flows_dropped() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace daybreak::traces
