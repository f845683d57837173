// A random but lawful run, as the simulator would report it: spans that tile, slots that never
// overlap, launches that do. Tests compare what observers make of it with sums taken from the lists
// themselves.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "traces/event/event.hpp"

namespace daybreak::traces {

struct EventStream {
  int64_t cycles = 0;
  std::vector<UnitInfo> units;
  std::vector<UnitSpan> spans;
  std::vector<InstructionEvent> instructions;  // per unit in order of retirement
  std::vector<FlowEvent> flows;
  std::vector<TaskEvent> tasks;
  std::vector<LaunchEvent> launches;
  std::deque<std::string> names;  // storage of kernel names and labels

  // Reports everything in the order of simulated time. At equal times producers come before flows
  // and consumers after them, as units would report them.
  void play(Observer& observer) const {
    for (const UnitInfo& u : units) observer.unit(u);
    std::vector<std::pair<std::pair<int64_t, int>, std::function<void()>>> calls;
    for (const auto& s : spans) calls.push_back({{s.end, 3}, [&] { observer.span(s); }});
    for (const auto& i : instructions)
      calls.push_back({{i.retired, 0}, [&] { observer.instruction(i); }});
    for (const auto& f : flows) calls.push_back({{f.to_time, 1}, [&] { observer.flow(f); }});
    for (const auto& t : tasks) calls.push_back({{t.ended, 4}, [&] { observer.task(t); }});
    for (const auto& l : launches) calls.push_back({{l.ended, 5}, [&] { observer.launch(l); }});
    std::stable_sort(calls.begin(), calls.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& call : calls) call.second();
    observer.end(cycles);
  }
};

class StreamMaker {
 public:
  explicit StreamMaker(uint64_t seed) : random_(seed) {}

  EventStream make() {
    out_.cycles = 50 + pick(3000);
    cores_ = int32_t(1 + pick(4));
    make_launches();
    for (int32_t core = 0; core < cores_; ++core)
      for (const auto& [word, slots] : {std::pair{"control", 1},
                                        {"dma_in", 4},
                                        {"dma_out", 2},
                                        {"matrix", 1},
                                        {"vector", 1},
                                        {"sort", 1}})
        add_unit(core, "chip.core" + std::to_string(core) + "." + word,
                 std::string("chip.core.") + word, slots);
    add_unit(-1, "chip.scheduler", "chip.scheduler", 1);
    for (const UnitInfo& unit : out_.units) {
      make_spans(unit);
      make_instructions(unit);
    }
    make_flows();
    make_tasks();
    return std::move(out_);
  }

 private:
  int64_t pick(int64_t below) { return below <= 0 ? 0 : int64_t(random_() % uint64_t(below)); }

  void add_unit(int32_t core, std::string path, std::string kind, int32_t slots) {
    // Numbers with gaps: nothing says that they are dense.
    out_.units.push_back({.id = int32_t(out_.units.size() * 3 + 1),
                          .core = core,
                          .path = std::move(path),
                          .kind = std::move(kind),
                          .slots = slots});
  }

  void make_launches() {
    const int64_t count = pick(6);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t ready = pick(out_.cycles), ended = ready + pick(out_.cycles - ready + 1);
      out_.names.push_back("kernel_" + std::to_string(i % 3));
      out_.launches.push_back({.launch = i,
                               .kernel = out_.names.back(),
                               .ready = ready,
                               .started = ready + pick(ended - ready + 1),
                               .ended = ended,
                               .tasks = 1 + pick(9)});
    }
  }

  int64_t some_launch() {
    return out_.launches.empty() ? kNone : pick(int64_t(out_.launches.size()) + 1) - 1;
  }

  void make_spans(const UnitInfo& unit) {
    for (int64_t at = 0; at < out_.cycles;) {
      const int64_t next = std::min(out_.cycles, at + 1 + pick(200));
      const auto cause = Cause(pick(kCauses));
      const int64_t who = pick(3) ? kNone : out_.units[size_t(pick(int64_t(out_.units.size())))].id;
      out_.spans.push_back({.unit = unit.id,
                            .begin = at,
                            .end = next,
                            .cause = cause,
                            .launch = some_launch(),
                            .waits_for = who});
      at = next;
    }
  }

  void make_instructions(const UnitInfo& unit) {
    static constexpr std::string_view kNames[] = {"gather", "mma", "row_apply", "topk_block"};
    std::vector<int64_t> free(size_t(unit.slots), 0);
    int64_t started = 0, retired = 0;
    const int64_t count = pick(400);
    for (int64_t i = 0; i < count; ++i) {
      const size_t slot = size_t(i) % free.size();
      started = std::max(started, free[slot]) + pick(6);
      retired = std::max(retired, started + pick(30));
      if (retired > out_.cycles) break;
      free[slot] = retired;
      out_.names.push_back(pick(2) ? "" : "step " + std::to_string(i));
      out_.instructions.push_back({.unit = unit.id,
                                   .slot = int32_t(slot),
                                   .launch = 0,
                                   .task = pick(50),
                                   .entry = int32_t(i),
                                   .name = kNames[pick(4)],
                                   .label = out_.names.back(),
                                   .issued = std::max<int64_t>(0, started - pick(20)),
                                   .started = started,
                                   .retired = retired,
                                   .read_bytes = pick(2) * pick(100000),
                                   .write_bytes = pick(2) * pick(1000),
                                   .macs = pick(1 << 20)});
    }
  }

  void make_flows() {
    const auto& list = out_.instructions;
    for (int64_t i = 0; i < int64_t(list.size()) / 2; ++i) {
      const auto& from = list[size_t(pick(int64_t(list.size())))];
      const auto& to = list[size_t(pick(int64_t(list.size())))];
      // The producer is one of the last dozens of its unit, as it is in a real run.
      if (from.unit != to.unit && from.retired <= to.started && to.started - from.retired < 100)
        out_.flows.push_back({from.unit, to.unit, from.retired, to.started});
    }
  }

  void make_tasks() {
    for (int32_t core = 0; core < cores_; ++core) {
      int64_t at = 0;
      while (!out_.launches.empty() && pick(5)) {
        const int64_t start = at + pick(50), end = start + pick(300);
        if (end > out_.cycles) break;
        out_.tasks.push_back({.core = core,
                              .launch = pick(int64_t(out_.launches.size())),
                              .task = pick(100),
                              .dispatched = at,
                              .started = start,
                              .ended = end});
        at = end;
      }
    }
  }

  std::mt19937_64 random_;
  EventStream out_;
  int32_t cores_ = 0;
};

inline EventStream random_stream(uint64_t seed) { return StreamMaker(seed).make(); }

}  // namespace daybreak::traces
