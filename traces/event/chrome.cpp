#include "traces/event/chrome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "traces/event/atomic_file.hpp"
#include "traces/event/traffic.hpp"

namespace daybreak::traces {
namespace {

constexpr int64_t kTaskThread = 1, kLaunchThread = 1, kUnitThread = 100, kThreadsPerUnit = 4096;
constexpr size_t kBlock = 1 << 20;

std::string json_text(std::string_view text) {
  return nlohmann::json(std::string(text))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Where and when an instruction was, for the ends of flows.
struct Seen {
  int64_t started, retired;
  int32_t slot;
};

}  // namespace

struct ChromeWriter::Impl {
  AtomicFile file;
  RunFacts facts;
  std::string block = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  bool first = true;
  std::vector<UnitInfo> units;
  std::vector<int32_t> index;           // by unit id
  std::vector<std::vector<Seen>> seen;  // by unit index, in order of retirement
  std::vector<FlowEvent> flows;
  std::vector<int64_t> launch_lanes;  // when each is free
  Traffic traffic;
  int64_t flows_written = 0;

  Impl(std::string path, RunFacts f) : file(std::move(path)), facts(std::move(f)) {
    name(1, 0, "process_name", "chip " + facts.chip);
  }

  // Thousandths of a nanosecond tell cycles of any clock apart.
  std::string time(int64_t cycle) const {
    return fmt::format("{:.6f}", double(cycle) / facts.clock_hz * 1e6);
  }
  static int64_t process(int32_t core) { return core + 2; }
  UnitInfo& unit(int32_t id) { return units[size_t(index[size_t(id)])]; }
  int64_t thread(int32_t id, int32_t slot) {
    return kUnitThread + index[size_t(id)] * kThreadsPerUnit + slot;
  }

  void write(const std::string& event) {
    if (!first) block += ",\n";
    first = false;
    block += event;
    if (block.size() < kBlock) return;
    file.write(block);
    block.clear();
  }
  void name(int64_t pid, int64_t tid, const char* what, const std::string& text) {
    write(fmt::format(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}}}})", pid,
                      tid, what, json_text(text)));
  }
  void slice(int64_t pid, int64_t tid, std::string_view name, const char* category, int64_t begin,
             int64_t end, const std::string& args) {
    write(fmt::format(
        R"({{"ph":"X","pid":{},"tid":{},"name":{},"cat":"{}","ts":{},"dur":{:.6f},"args":{{{}}}}})",
        pid, tid, json_text(name), category, time(begin),
        double(end - begin) / facts.clock_hz * 1e6, args));
  }

  const Seen* find(int32_t id, int64_t at, bool started) const {
    const std::vector<Seen>& list = seen[size_t(index[size_t(id)])];
    const auto it = std::find_if(
        std::lower_bound(list.begin(), list.end(), at,
                         [](const Seen& s, int64_t t) { return s.retired < t; }),
        list.end(), [&](const Seen& s) { return (started ? s.started : s.retired) >= at; });
    return it == list.end() || (started ? it->started : it->retired) != at ? nullptr : &*it;
  }

  // Ends of an arrow lie inside their slices; slices without length take none.
  void write_flows() {
    for (const FlowEvent& f : flows) {
      const Seen *from = find(f.from_unit, f.from_time, false),
                 *to = find(f.to_unit, f.to_time, true);
      if (!from || !to || from->retired == from->started || to->retired == to->started) continue;
      const int64_t id = ++flows_written;
      const auto end = [&](const char* phase, int32_t unit_id, const Seen& s, const char* more) {
        write(fmt::format(
            R"({{"ph":"{}","pid":{},"tid":{},"name":"signal","cat":"flow","id":{},"ts":{}{}}})",
            phase, process(unit(unit_id).core), thread(unit_id, s.slot), id, time(s.started),
            more));
      };
      end("s", f.from_unit, *from, "");
      end("f", f.to_unit, *to, R"(,"bp":"e")");
    }
  }
};

ChromeWriter::ChromeWriter(std::string path, RunFacts facts)
    : impl_(std::make_unique<Impl>(std::move(path), std::move(facts))) {}
ChromeWriter::~ChromeWriter() = default;

void ChromeWriter::unit(const UnitInfo& u) {
  Impl& w = *impl_;
  if (size_t(u.id) >= w.index.size()) w.index.resize(size_t(u.id) + 1, -1);
  w.index[size_t(u.id)] = int32_t(w.units.size());
  const bool new_core = std::none_of(w.units.begin(), w.units.end(),
                                     [&](const UnitInfo& o) { return o.core == u.core; });
  w.units.push_back(u);
  w.seen.emplace_back();
  const int64_t pid = Impl::process(u.core);
  if (new_core && u.core >= 0) {
    w.name(pid, 0, "process_name", fmt::format("core {}", u.core));
    w.name(pid, kTaskThread, "thread_name", "tasks");
  }
  const std::string word = u.path.substr(u.path.rfind('.') + 1);
  w.name(pid, w.thread(u.id, 0), "thread_name", word + " state");
  for (int32_t slot = 0; slot < u.slots; ++slot)
    w.name(pid, w.thread(u.id, slot + 1), "thread_name",
           u.slots == 1 ? word : fmt::format("{} slot {}", word, slot));
}

void ChromeWriter::span(const UnitSpan& s) {
  Impl& w = *impl_;
  std::string args = fmt::format(R"("launch":{})", s.launch);
  if (s.waits_for != kNone)
    args += fmt::format(R"(,"waits_for":{})", json_text(w.unit(int32_t(s.waits_for)).path));
  w.slice(Impl::process(w.unit(s.unit).core), w.thread(s.unit, 0), name_of(s.cause), "state",
          s.begin, s.end, args);
}

void ChromeWriter::instruction(const InstructionEvent& e) {
  Impl& w = *impl_;
  w.traffic.add(e.started, e.retired, e.read_bytes + e.write_bytes);
  w.seen[size_t(w.index[size_t(e.unit)])].push_back({e.started, e.retired, e.slot + 1});
  w.slice(
      Impl::process(w.unit(e.unit).core), w.thread(e.unit, e.slot + 1), e.name, "instruction",
      e.started, e.retired,
      fmt::format(
          R"("label":{},"launch":{},"task":{},"entry":{},"read_bytes":{},"write_bytes":{},"macs":{})",
          json_text(e.label), e.launch, e.task, e.entry, e.read_bytes, e.write_bytes, e.macs));
}

void ChromeWriter::flow(const FlowEvent& f) { impl_->flows.push_back(f); }

void ChromeWriter::task(const TaskEvent& t) {
  impl_->slice(Impl::process(t.core), kTaskThread, impl_->facts.kernel(t.launch), "task", t.started,
               t.ended, fmt::format(R"("launch":{},"task":{})", t.launch, t.task));
}

void ChromeWriter::launch(const LaunchEvent& l) {
  Impl& w = *impl_;
  size_t lane = 0;
  while (lane < w.launch_lanes.size() && w.launch_lanes[lane] > l.ready) ++lane;
  if (lane == w.launch_lanes.size()) {
    w.launch_lanes.push_back(0);
    w.name(1, kLaunchThread + int64_t(lane), "thread_name",
           lane == 0 ? "launches" : fmt::format("launches {}", lane));
  }
  w.launch_lanes[lane] = l.ended;
  w.slice(1, kLaunchThread + int64_t(lane), l.kernel, "launch", l.ready, l.ended,
          fmt::format(R"("launch":{},"tasks":{})", l.launch, l.tasks));
}

void ChromeWriter::end(int64_t) {
  Impl& w = *impl_;
  w.write_flows();
  const double seconds = double(w.traffic.window()) / w.facts.clock_hz;
  const std::vector<int64_t>& bytes = w.traffic.bytes();
  for (size_t i = 0; i < bytes.size(); ++i)
    w.write(fmt::format(
        R"({{"ph":"C","pid":1,"name":"memory traffic asked for","ts":{},"args":{{"GB/s":{:.3f}}}}})",
        w.time(int64_t(i) * w.traffic.window()), double(bytes[i]) / seconds / 1e9));
  w.file.write(w.block + "\n]}\n");
  w.file.commit();
}

int64_t ChromeWriter::flows_written() const { return impl_->flows_written; }

}  // namespace daybreak::traces
