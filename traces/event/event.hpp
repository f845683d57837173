// What happened, as typed events. Models call the observers' hooks and do not know who listens.
// Times are cycles of the core clock.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace daybreak::traces {

// Why a unit did nothing in a cycle: exactly one of these, or it was busy. (design.md section 5)
enum class Cause : uint8_t {
  busy,
  no_task,
  launch,
  issue_order,
  fifo_full,
  semaphore,
  ring_slot,
  operand_bank,
  noc,
  l2_miss,
  tlb_walk,
  outstanding,
  hbm_row,
  hbm_bandwidth,
  refresh,
  convert_lanes,
  scale_miss,
  workspace
};
inline constexpr int kCauses = 18;
constexpr std::string_view name_of(Cause c) {
  constexpr std::string_view names[] = {
      "busy",           "no task",           "launch or dispatch",   "issue order",   "FIFO full",
      "wait semaphore", "ring slot",         "operand port or bank", "NoC",           "L2 miss",
      "TLB walk",       "outstanding limit", "HBM row or bank",      "HBM bandwidth", "refresh",
      "convert lanes",  "scale miss",        "workspace hand-over"};
  return names[int(c)];
}

inline constexpr int64_t kNone = -1;

// Rows that a pair of tasks (2n and 2n+1 of a launch) shares: gathered by one, received by the
// other. The k-th delivery of a task fills the k-th receipt of its partner.
enum class Share : uint8_t { alone, delivers, receives };

// A unit exists once per run: "chip.core7.dma_in". `kind` is its path without numbers.
struct UnitInfo {
  int32_t id = 0;
  int32_t core = -1;  // -1: not part of a core (scheduler, HBM)
  std::string path = {}, kind = {};
  int32_t slots = 1;  // instructions it can hold at once: one trace track each
};

// [begin, end) of one unit in one state. The spans of a unit tile the run without gap or overlap.
struct UnitSpan {
  int32_t unit = 0;
  int64_t begin = 0, end = 0;
  Cause cause = Cause::busy;
  int64_t launch =
      kNone;  // launch whose task the core runs or waits for; kNone outside every launch
  int64_t waits_for = kNone;  // unit id that must act, where known
};

// Where the cycles of a matrix, vector or sort instruction went: the unit is taken for
// fixed + streamed + stalled cycles, the result is there `tail` cycles later.
struct ComputeParts {
  int64_t fixed = 0;     // head or start-up
  int64_t streamed = 0;  // grows with the operands
  int64_t stalled = 0;   // operand ports and banks
  int64_t tail = 0;
};

// The stages of a DMA instruction: a front that decodes it and reads the index entries it names, a
// back that asks for the data. Times are cycles; kNone: it has not been there.
struct MoveStages {
  int64_t named = kNone;    // decoded, and the index entries are there
  int64_t began = kNone;    // the back took it over, the front is free
  int64_t allowed = kNone;  // the partner has room for rows that are shared
  int64_t asked = kNone;    // all requests made, the back is free
  int64_t landed = kNone;   // all data in its place
  int64_t decoding = 0;     // cycles of the front before it reads index entries
  int64_t issuing = 0;   // cycles in [allowed, asked) in which the back worked; else it was held up
  int64_t requests = 0;  // for data
  bool walks = false;    // the back is held up by page-table reads, not by the limit of requests
  Share share = Share::alone;
  // Of the request that landed last, from submission to the last byte: cycles on the way there and
  // back without traffic, and cycles by cause beyond them; `busy` is the time on the core's port.
  int32_t unloaded = 0;
  std::array<int32_t, kCauses> waited{};
};

// One instruction's life on its unit.
struct InstructionEvent {
  int32_t unit = 0, slot = 0;
  int64_t launch = 0, task = 0;
  int32_t entry = 0;            // index in the task's program
  std::string_view name = {};   // opcode name (static storage)
  std::string_view label = {};  // the recorder's label; valid during the call
  int64_t issued = 0, started = 0, retired = 0;
  int64_t read_bytes = 0, write_bytes = 0;  // memory traffic asked for
  int64_t macs = 0;
  int64_t descriptors = 0;  // cycles of the control processor for its descriptors, before its issue
  ComputeParts parts = {};
  MoveStages move = {};
};

// A semaphore (or fence between cores) let an instruction start: an arrow from producer to
// consumer.
struct FlowEvent {
  int32_t from_unit = 0, to_unit = 0;
  int64_t from_time = 0, to_time = 0;
};

struct TaskEvent {
  int32_t core = 0;
  int64_t launch = 0, task = 0, dispatched = 0, started = 0, ended = 0;
};

// One thing a scheduler thread did: `count` tasks from `task` on dispatched to cores from `core`
// on, or the end of the task of `core` noticed.
struct JobEvent {
  bool dispatch = false;
  int64_t launch = 0, task = 0, count = 1;
  int32_t core = 0;
  int64_t from = 0, until = 0;
};

struct LaunchEvent {
  int64_t launch = 0;
  std::string_view kernel = {};
  int64_t ready = 0, started = 0, ended = 0, tasks = 0;
  std::span<const uint32_t> after = {};  // launches it waited for; valid during the call
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void unit(const UnitInfo&) {}  // before the run, once per unit
  virtual void span(const UnitSpan&) {}
  virtual void instruction(const InstructionEvent&) {}
  virtual void flow(const FlowEvent&) {}
  virtual void task(const TaskEvent&) {}
  virtual void job(const JobEvent&) {}  // in the order of their begins
  virtual void launch(const LaunchEvent&) {}
  virtual void end(int64_t /*cycles*/) {}  // after the run, once
};

}  // namespace daybreak::traces
