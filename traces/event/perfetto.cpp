#include "traces/event/perfetto.hpp"

#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <map>
#include <utility>

#include "configs/reader/errors.hpp"
#include "traces/event/perfetto_packets.hpp"
#include "traces/event/traffic.hpp"

namespace daybreak::traces {

TraceLevel trace_level(std::string_view word) {
  if (word == "kernel") return TraceLevel::kernel;
  if (word == "task") return TraceLevel::task;
  if (word == "instruction") return TraceLevel::instruction;
  throw UserError(
      fmt::format("unknown trace level '{}'; allowed: kernel, task, instruction", word));
}

namespace {

constexpr size_t kHeld = 128;      // instructions per unit that a late flow can still reach
constexpr size_t kWaiting = 1024;  // flow ends per unit whose instruction has not been reported yet

// Ranks of tracks inside their process; units follow in the order of their numbers.
constexpr int32_t kRunRank = 0, kTrafficRank = 1, kQueueRank = 2, kFlightRank = 3, kLaunchRank = 4,
                  kTaskRank = 2, kUnitRank = 100;
constexpr int32_t kRanksPerUnit = 64;

struct Held {
  InstructionEvent event;
  std::string label;
  std::vector<uint64_t> flows_out, flows_in;
};

// Slices that may overlap: each goes to the first lane that is free at its begin.
struct Lanes {
  std::vector<uint64_t> tracks;
  std::vector<int64_t> ends;
};

struct UnitTracks {
  UnitInfo info;
  std::vector<uint64_t> slots;
  std::vector<int64_t> slot_ends;
  uint64_t state = 0;
  std::deque<Held> held;
  std::deque<FlowEvent> unsent;  // producer not reported yet
  std::deque<std::pair<int64_t, uint64_t>>
      unreceived;  // (time, flow id), consumer not reported yet
};

// "chip.core7.dma_in" is "dma_in" inside its core; "chip.hbm0" is "hbm0" inside the chip.
std::string short_name(const UnitInfo& unit) {
  const size_t dot = unit.core >= 0 ? unit.path.rfind('.') : unit.path.find('.');
  return dot == std::string::npos ? unit.path : unit.path.substr(dot + 1);
}

}  // namespace

struct PerfettoWriter::Impl {
  PacketFile file;
  PerfettoOptions options;
  uint64_t chip = 0, run = 0, traffic_track = 0, queue_track = 0, flight_track = 0;
  std::map<int32_t, uint64_t> cores;
  std::map<int32_t, Lanes> tasks;
  Lanes launches;
  std::vector<UnitTracks> units;
  std::vector<int32_t> index;          // by unit id; -1: unknown
  Traffic traffic, queued, in_flight;  // the last two collect cycles of instructions
  int64_t flows_written = 0, flows_dropped = 0, dropped = 0;
  uint64_t next_flow = 1;

  Impl(std::string path, PerfettoOptions o) : file(std::move(path)), options(std::move(o)) {
    chip = file.process("chip " + options.chip, 1);
    run = file.track("run", chip, kRunRank);
    traffic_track = file.counter("memory traffic asked for", "GB/s", chip, kTrafficRank);
    queue_track = file.counter("instructions queued", "count", chip, kQueueRank);
    flight_track = file.counter("transfers outstanding", "count", chip, kFlightRank);
  }

  bool instructions() const { return options.level == TraceLevel::instruction; }

  // Whether detail still goes into the file; counts what does not.
  bool detail() {
    if (!instructions()) return false;
    if (options.max_bytes == 0 || file.size() < options.max_bytes) return true;
    ++dropped;
    return false;
  }

  // Process numbers: 1 is the chip, 0 would be merged with others by some readers.
  uint64_t process(int32_t core) {
    if (core < 0) return chip;
    const auto at = cores.find(core);
    if (at != cores.end()) return at->second;
    return cores[core] = file.process(fmt::format("core {}", core), core + 2);
  }

  UnitTracks& unit(int32_t id) {
    if (id < 0 || size_t(id) >= index.size() || index[size_t(id)] < 0)
      throw InvariantError(fmt::format("unit id {} was never announced", id));
    return units[size_t(index[size_t(id)])];
  }

  uint64_t lane(Lanes& lanes, int64_t begin, int64_t end, std::string_view name, uint64_t parent,
                int32_t rank) {
    size_t i = 0;
    while (i < lanes.ends.size() && lanes.ends[i] > begin) ++i;
    if (i == lanes.ends.size()) {
      const std::string own = i == 0 ? std::string(name) : fmt::format("{} {}", name, i);
      lanes.tracks.push_back(file.track(own, parent, rank + int32_t(i)));
      lanes.ends.push_back(0);
    }
    lanes.ends[i] = end;
    return lanes.tracks[i];
  }

  std::string kernel(int64_t launch) const {
    return launch >= 0 && size_t(launch) < options.kernels.size()
               ? options.kernels[size_t(launch)]
               : fmt::format("launch {}", launch);
  }

  void write(UnitTracks& unit, const Held& held) {
    const InstructionEvent& e = held.event;
    if (e.slot < 0 || size_t(e.slot) >= unit.slots.size() || e.retired < e.started ||
        e.started < unit.slot_ends[size_t(e.slot)])
      throw InvariantError(fmt::format(
          "cycle {}: {}: {} (entry {} of task {}) occupies slot {} over [{}, {}), which is not free",
          e.retired, unit.info.path, e.name, e.entry, e.task, e.slot, e.started, e.retired));
    unit.slot_ends[size_t(e.slot)] = e.retired;
    std::vector<SliceArg> args;
    if (!held.label.empty()) args.push_back({"label", 0, held.label});
    args.insert(args.end(),
                {{"launch", e.launch}, {"task", e.task}, {"entry", e.entry}, {"issued", e.issued}});
    if (e.read_bytes) args.push_back({"read_bytes", e.read_bytes});
    if (e.write_bytes) args.push_back({"write_bytes", e.write_bytes});
    if (e.macs) args.push_back({"macs", e.macs});
    file.slice({.track = unit.slots[size_t(e.slot)],
                .begin = e.started,
                .end = e.retired,
                .name = e.name,
                .category = "instruction",
                .args = args,
                .flows_out = held.flows_out,
                .flows_in = held.flows_in});
  }

  // Joins a flow to its producer, if that has been reported; false: it may still come.
  bool send(UnitTracks& from, const FlowEvent& f, bool last_chance) {
    auto at = from.held.rbegin();
    if (!last_chance && (at == from.held.rend() || at->event.retired < f.from_time)) return false;
    while (at != from.held.rend() && at->event.retired > f.from_time) ++at;
    if (at == from.held.rend()) {
      ++flows_dropped;
      return true;
    }
    UnitTracks& to = unit(f.to_unit);
    const uint64_t id = next_flow++;
    at->flows_out.push_back(id);
    ++flows_written;
    for (Held& held : to.held)
      if (held.event.started >= f.to_time) {
        held.flows_in.push_back(id);
        return true;
      }
    to.unreceived.emplace_back(f.to_time, id);
    if (to.unreceived.size() > kWaiting) to.unreceived.pop_front();
    return true;
  }

  void add(UnitTracks& unit, const InstructionEvent& e) {
    unit.held.push_back({e, std::string(e.label), {}, {}});
    Held& held = unit.held.back();
    held.event.label = {};
    while (!unit.unreceived.empty() && unit.unreceived.front().first <= e.started) {
      held.flows_in.push_back(unit.unreceived.front().second);
      unit.unreceived.pop_front();
    }
    while (!unit.unsent.empty() && send(unit, unit.unsent.front(), false)) unit.unsent.pop_front();
    if (unit.held.size() > kHeld) {
      write(unit, unit.held.front());
      unit.held.pop_front();
    }
  }

  // The mean of each window, times `unit`.
  void counter(uint64_t track, const Traffic& t, double unit) {
    const std::vector<int64_t>& sums = t.bytes();
    for (size_t i = 0; i < sums.size(); ++i)
      file.count(track, int64_t(i) * t.window(), double(sums[i]) / double(t.window()) * unit);
    if (!sums.empty()) file.count(track, int64_t(sums.size()) * t.window(), 0);
  }

  void finish(int64_t cycles) {
    for (UnitTracks& u : units)
      for (const FlowEvent& f : u.unsent) send(u, f, true);
    for (UnitTracks& u : units)
      for (const Held& held : u.held) write(u, held);
    counter(traffic_track, traffic, options.clock_hz / 1e9);
    counter(queue_track, queued, 1);
    counter(flight_track, in_flight, 1);
    const SliceArg args[] = {{"clock_hz", std::llround(options.clock_hz)},
                             {"cycles", cycles},
                             {"time", 0, "1 ns of this file is 1 cycle of the core clock"},
                             {"flows_dropped", flows_dropped},
                             {"dropped_by_cap", dropped}};
    file.slice({.track = run,
                .begin = 0,
                .end = cycles,
                .name = options.chip,
                .category = "run",
                .args = args});
    file.commit();
  }
};

PerfettoWriter::PerfettoWriter(std::string path, PerfettoOptions options)
    : impl_(std::make_unique<Impl>(std::move(path), std::move(options))) {}
PerfettoWriter::~PerfettoWriter() = default;

void PerfettoWriter::unit(const UnitInfo& info) {
  Impl& w = *impl_;
  if (info.id < 0 || info.slots < 1)
    throw InvariantError(fmt::format("{}: a unit needs an id and a slot", info.path));
  if (size_t(info.id) >= w.index.size()) w.index.resize(size_t(info.id) + 1, -1);
  w.index[size_t(info.id)] = int32_t(w.units.size());
  UnitTracks& u = w.units.emplace_back();
  u.info = info;
  if (!w.instructions()) return;
  const uint64_t parent = w.process(info.core);
  const std::string name = short_name(info);
  int32_t rank = kUnitRank + info.id * kRanksPerUnit;
  for (int32_t slot = 0; slot < info.slots; ++slot) {
    const std::string own = info.slots == 1 ? name : fmt::format("{} slot {}", name, slot);
    u.slots.push_back(w.file.track(own, parent, rank++));
    u.slot_ends.push_back(0);
  }
  u.state = w.file.track(name + " state", parent, rank);
}

void PerfettoWriter::span(const UnitSpan& s) {
  Impl& w = *impl_;
  if (s.end == s.begin || !w.detail()) return;
  std::vector<SliceArg> args;
  if (s.launch != kNone) args.push_back({"launch", s.launch});
  if (s.waits_for != kNone)
    args.push_back({"waits_for", 0, w.unit(int32_t(s.waits_for)).info.path});
  w.file.slice({.track = w.unit(s.unit).state,
                .begin = s.begin,
                .end = s.end,
                .name = name_of(s.cause),
                .category = "state",
                .args = args});
}

void PerfettoWriter::instruction(const InstructionEvent& e) {
  Impl& w = *impl_;
  w.traffic.add(e.started, e.retired, e.read_bytes + e.write_bytes);
  w.queued.add(e.issued, e.started, e.started - e.issued);
  if (e.read_bytes + e.write_bytes > 0)
    w.in_flight.add(e.started, e.retired, e.retired - e.started);
  if (w.detail()) w.add(w.unit(e.unit), e);
}

void PerfettoWriter::flow(const FlowEvent& f) {
  Impl& w = *impl_;
  if (!w.detail()) return;
  UnitTracks& from = w.unit(f.from_unit);
  if (w.send(from, f, false)) return;
  from.unsent.push_back(f);
  if (from.unsent.size() > kWaiting) {
    from.unsent.pop_front();
    ++w.flows_dropped;
  }
}

void PerfettoWriter::task(const TaskEvent& t) {
  Impl& w = *impl_;
  if (w.options.level == TraceLevel::kernel) return;
  const uint64_t track =
      w.lane(w.tasks[t.core], t.started, t.ended, "tasks", w.process(t.core), kTaskRank);
  const SliceArg args[] = {{"launch", t.launch}, {"task", t.task}, {"dispatched", t.dispatched}};
  w.file.slice({.track = track,
                .begin = t.started,
                .end = t.ended,
                .name = w.kernel(t.launch),
                .category = "task",
                .args = args});
}

void PerfettoWriter::launch(const LaunchEvent& l) {
  Impl& w = *impl_;
  const uint64_t track = w.lane(w.launches, l.ready, l.ended, "launches", w.chip, kLaunchRank);
  const SliceArg args[] = {{"launch", l.launch}, {"started", l.started}, {"tasks", l.tasks}};
  w.file.slice({.track = track,
                .begin = l.ready,
                .end = l.ended,
                .name = l.kernel,
                .category = "launch",
                .args = args});
}

void PerfettoWriter::end(int64_t cycles) { impl_->finish(cycles); }

int64_t PerfettoWriter::flows_written() const { return impl_->flows_written; }
int64_t PerfettoWriter::flows_dropped() const { return impl_->flows_dropped; }

}  // namespace daybreak::traces
