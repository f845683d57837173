#include "traces/analysis/run_graph.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "configs/reader/errors.hpp"

namespace daybreak::traces {
namespace {

constexpr size_t kMostInstructions = 20'000'000;  // about 600 bytes of graph each

struct Nodes {
  NodeId arrival, started, named, began, allowed, asked, landed, free, retired;
};

using TaskKey = std::pair<int64_t, int64_t>;  // launch, task

// A task's instructions by position in the list of all of them.
struct TaskLists {
  std::vector<size_t> by_entry, deliveries, receipts;
  NodeId start = 0, end = 0;
  bool seen = false;
};

Step step_of(Cause cause) {
  switch (cause) {
    case Cause::busy: return Step::port;
    case Cause::noc: return Step::noc;
    case Cause::l2_miss: return Step::l2_miss;
    case Cause::hbm_row: return Step::hbm_row;
    case Cause::hbm_bandwidth: return Step::hbm_bandwidth;
    case Cause::refresh: return Step::refresh;
    case Cause::tlb_walk: return Step::tlb_walk;
    case Cause::convert_lanes: return Step::convert_lanes;
    case Cause::scale_miss: return Step::scale_miss;
    default: return Step::latency;
  }
}

// `cycles` in the proportions of what the last request waited for, its unloaded way as `way`; the
// parts add up to `cycles`.
void add_waiting(std::vector<Part>& out, const MoveStages& m, int64_t cycles, Step way) {
  int64_t all = m.unloaded, seen = 0, given = 0;
  for (const int32_t w : m.waited) all += w;
  if (all == 0) {
    out.push_back({way, cycles});
    return;
  }
  const auto add = [&](Step step, int64_t waited) {
    seen += waited;
    const int64_t until = int64_t(__int128(cycles) * seen / all);
    out.push_back({step, until - given});
    given = until;
  };
  add(way, m.unloaded);
  for (size_t i = 0; i < m.waited.size(); ++i) add(step_of(Cause(i)), m.waited[i]);
}

std::vector<Part> landing(const MoveStages& m) {
  std::vector<Part> out;
  add_waiting(out, m, m.landed - m.asked, m.requests > 0 ? Step::latency : Step::exchange);
  return out;
}

// The back at work, and held up at the limit of requests: by what made them take longer than their
// way, and by the limit itself.
std::vector<Part> asking(const MoveStages& m) {
  const int64_t whole = m.asked - m.allowed, working = std::min(whole, m.issuing);
  std::vector<Part> out{{m.issuing > m.requests ? Step::row_issue : Step::request_issue, working}};
  if (whole > working) add_waiting(out, m, whole - working, Step::outstanding);
  return out;
}

}  // namespace

struct GraphBuilder::Impl {
  RunGraph out;
  std::vector<UnitInfo> units;
  std::vector<int32_t> unit_index;             // by unit id
  std::vector<int32_t> kind_of;                // by unit index
  std::vector<InstructionEvent> instructions;  // views emptied
  std::vector<std::vector<size_t>> by_unit;    // in order of retirement
  std::vector<FlowEvent> flows;
  std::vector<TaskEvent> tasks;
  std::vector<JobEvent> jobs;
  std::vector<std::pair<LaunchEvent, std::vector<uint32_t>>> launches;
  std::vector<Nodes> nodes;
  std::map<TaskKey, TaskLists> by_task;

  Graph& graph() { return out.graph; }
  int64_t cycles_of(const std::string& knob) const {
    const int64_t fs = std::llround(1e15 / out.facts.clock_hz);
    return (std::llround(out.facts.knob(knob) * 1e9) + fs - 1) / fs;
  }
  Place place(const InstructionEvent& e) const {
    return {int32_t(e.launch), kind_of[size_t(unit_index[size_t(e.unit)])]};
  }
  std::string_view word(const InstructionEvent& e) const { return out.word(place(e).unit); }

  void add_nodes() {
    for (const InstructionEvent& e : instructions) {
      Graph& g = graph();
      const Place p = place(e);
      const MoveStages& m = e.move;
      Nodes n{};
      n.arrival = g.node(p, e.issued);
      n.started = g.node(p, e.started);
      n.named = n.began = n.allowed = n.asked = n.landed = n.free = n.started;
      if (m.named != kNone) {
        n.named = n.began = g.node(p, m.named);
        if (m.share != Share::receives) {
          n.began = g.node(p, m.began);
          n.allowed = g.node(p, m.allowed);
          n.asked = g.node(p, m.asked);
        }
        n.landed = g.node(p, m.landed);
        n.free = n.began;
      } else if (word(e) != "control") {
        n.free = g.node(p, e.started + e.parts.fixed + e.parts.streamed + e.parts.stalled);
      }
      n.retired = g.node(p, e.retired);
      nodes.push_back(n);
    }
  }

  void inside(size_t i) {
    const InstructionEvent& e = instructions[i];
    const Nodes& n = nodes[i];
    const MoveStages& m = e.move;
    Graph& g = graph();
    const std::string_view unit = word(e);
    if (m.named == kNone) {
      const ComputeParts& c = e.parts;
      if (unit == "control") {
        g.edge(n.started, n.retired, {{Step::scalar, e.retired - e.started}});
        return;
      }
      const bool matrix = unit == "matrix", sort = unit == "sort";
      g.edge(n.started, n.free,
             {{matrix ? Step::matrix_head
               : sort ? Step::sort_head
                      : Step::vector_startup,
               c.fixed},
              {matrix ? Step::matrix_products
               : sort ? Step::sort_work
                      : Step::vector_work,
               c.streamed},
              {matrix ? Step::matrix_operands : Step::vector_operands, c.stalled}});
      g.edge(n.free, n.retired, {{Step::exchange, c.tail}});
      return;
    }
    const int64_t reading = m.named - e.started - m.decoding;
    g.edge(n.started, n.named, {{Step::dma_decode, m.decoding}, {Step::dma_index, reading}});
    if (m.share == Share::receives) {
      g.edge(n.named, n.landed);
    } else {
      g.edge(n.named, n.began);
      g.edge(n.began, n.allowed, {{Step::tlb_walk, m.walks ? m.allowed - m.began : 0}});
      g.edge(n.allowed, n.asked, std::span<const Part>(asking(m)));
      g.edge(n.asked, n.landed, std::span<const Part>(landing(m)));
    }
    g.edge(n.landed, n.retired);
  }

  // What one instruction of a unit leaves to the next.
  void queues() {
    for (const std::vector<size_t>& list : by_unit)
      for (size_t k = 1; k < list.size(); ++k) {
        const Nodes &before = nodes[list[k - 1]], &after = nodes[list[k]];
        graph().edge(before.retired, after.retired);
        const InstructionEvent &a = instructions[list[k - 1]], &b = instructions[list[k]];
        if (a.launch != b.launch || a.task != b.task) continue;
        graph().edge(before.free, after.started);
        // One that must find its queue empty.
        if (a.move.named != kNone && b.started >= a.retired &&
            graph().time(after.started) == a.retired)
          graph().edge(before.retired, after.started);
        if (b.move.named != kNone && b.move.share != Share::receives) back_of(list, k);
      }
  }

  // The back of the DMA engine serves one instruction after the other; what is received passes it by.
  void back_of(const std::vector<size_t>& list, size_t k) {
    const InstructionEvent& mine = instructions[list[k]];
    for (size_t j = k; j-- > 0;) {
      const InstructionEvent& e = instructions[list[j]];
      if (e.launch != mine.launch || e.task != mine.task) return;
      if (e.move.named == kNone || e.move.share == Share::receives) continue;
      graph().edge(nodes[list[j]].asked, nodes[list[k]].began);
      return;
    }
  }

  // The instruction of a unit that retired last at or before `time` (or started at `time`).
  size_t find(int32_t unit, int64_t time, bool started) const {
    const std::vector<size_t>& list = by_unit[size_t(unit_index[size_t(unit)])];
    const auto at = [&](size_t i) {
      return started ? instructions[i].started : instructions[i].retired;
    };
    auto it = started ? std::lower_bound(list.begin(), list.end(), time,
                                         [&](size_t i, int64_t t) { return at(i) < t; })
                      : std::upper_bound(list.begin(), list.end(), time,
                                         [&](int64_t t, size_t i) { return t < at(i); });
    if (!started && it != list.begin()) --it;
    if (it == list.end() || (started ? at(*it) != time : at(*it) > time))
      return instructions.size();
    return *it;
  }

  void semaphores() {
    const auto latency = int64_t(out.facts.knob("chip.core.control.semaphore_latency")),
               between = int64_t(out.facts.knob("chip.scheduler.core_semaphore_latency"));
    for (const FlowEvent& f : flows) {
      const size_t from = find(f.from_unit, f.from_time, false),
                   to = find(f.to_unit, f.to_time, true);
      if (from == instructions.size() || to == instructions.size()) continue;
      // Counters between cores keep their own latency, also when both ends are on one core.
      const bool far = f.to_time - f.from_time >= between &&
                       (instructions[from].task != instructions[to].task ||
                        instructions[from].launch != instructions[to].launch);
      graph().edge(nodes[from].retired, nodes[to].started,
                   {{far                    ? Step::core_signal
                     : frees_slot(from, to) ? Step::ring_slot
                                            : Step::semaphore,
                     far ? between : latency}});
    }
  }

  // A consumer lets a load go on: the load waited for a place in its ring.
  bool frees_slot(size_t from, size_t to) const {
    const std::string_view giver = word(instructions[from]);
    return word(instructions[to]) == "dma_in" &&
           (giver == "matrix" || giver == "vector" || giver == "sort");
  }

  void pairs() {
    const auto latency = int64_t(out.facts.knob("chip.core.dma.pair_latency"));
    for (auto& [key, mine] : by_task) {
      const auto partner = by_task.find({key.first, key.second ^ 1});
      if (partner == by_task.end()) continue;
      const std::vector<size_t>& theirs = partner->second.receipts;
      for (size_t k = 0; k < std::min(mine.deliveries.size(), theirs.size()); ++k) {
        const Nodes &giver = nodes[mine.deliveries[k]], &taker = nodes[theirs[k]];
        graph().edge(taker.started, giver.allowed, {{Step::pair, latency}});
        graph().edge(giver.retired, taker.landed, {{Step::pair, latency}});
      }
    }
  }

  void issue() {
    const auto cycles = int64_t(out.facts.knob("chip.core.control.issue_cycles"));
    const auto depth = size_t(out.facts.knob("chip.core.control.queue_depth"));
    for (auto& [key, task] : by_task) {
      std::map<int32_t, std::vector<size_t>> queue;  // by unit
      NodeId before = task.start;
      for (const size_t i : task.by_entry) {
        const InstructionEvent& e = instructions[i];
        const bool own = word(e) == "control";
        auto& list = queue[e.unit];
        if (!own && list.size() >= depth)
          graph().edge(nodes[list[list.size() - depth]].started, nodes[i].arrival,
                       {{Step::fifo, cycles}});
        graph().edge(before, nodes[i].arrival,
                     {{Step::descriptors, e.descriptors}, {Step::issue, own ? 0 : cycles}});
        graph().edge(nodes[i].arrival, nodes[i].started);
        before = own ? nodes[i].retired : nodes[i].arrival;
        list.push_back(i);
      }
      for (const auto& [unit, list] : queue) graph().edge(nodes[list.back()].retired, task.end);
      if (task.by_entry.empty()) graph().edge(task.start, task.end);
    }
  }

  void group_tasks() {
    for (const TaskEvent& t : tasks) {
      TaskLists& lists = by_task[{t.launch, t.task}];
      lists.start = graph().node({int32_t(t.launch), -1}, t.started);
      lists.end = graph().node({int32_t(t.launch), -1}, t.ended);
      lists.seen = true;
    }
    for (size_t i = 0; i < instructions.size(); ++i) {
      const InstructionEvent& e = instructions[i];
      TaskLists& lists = by_task[{e.launch, e.task}];
      if (!lists.seen)
        throw InvariantError(fmt::format("task {} of launch {} never ended", e.task, e.launch));
      lists.by_entry.push_back(i);
    }
    for (auto& [key, lists] : by_task) {
      std::sort(lists.by_entry.begin(), lists.by_entry.end(),
                [&](size_t a, size_t b) { return instructions[a].entry < instructions[b].entry; });
      for (const size_t i : lists.by_entry) {
        const Share share = instructions[i].move.share;
        if (share == Share::delivers) lists.deliveries.push_back(i);
        if (share == Share::receives) lists.receipts.push_back(i);
      }
    }
  }

  // Launches, the jobs of the scheduler's threads, dispatch and acknowledge. Returns the end.
  NodeId scheduler(NodeId root) {
    Graph& g = graph();
    const auto threads = size_t(out.facts.knob("chip.scheduler.threads"));
    const int64_t warm = cycles_of("chip.scheduler.dispatch_warm"),
                  acknowledge = cycles_of("chip.scheduler.acknowledge");
    struct LaunchNodes {
      NodeId ready, open, ended;
    };
    std::map<int64_t, LaunchNodes> launch;
    for (const auto& [e, after] : launches) {
      const Place p{int32_t(e.launch), -1};
      launch[e.launch] = {g.node(p, e.ready), g.node(p, e.started), g.node(p, e.ended)};
    }
    const NodeId end = g.node({}, out.cycles);
    for (const auto& [e, after] : launches) {
      const LaunchNodes& n = launch[e.launch];
      g.edge(root, n.ready);
      for (const uint32_t a : after) g.edge(launch.at(a).ended, n.ready);
      g.edge(n.ready, n.open, {{Step::launch, e.started - e.ready}});
      g.edge(n.open, n.ended);
      g.edge(n.ended, end);
    }
    std::map<int32_t, NodeId> free_core;
    std::map<int32_t, TaskKey> on_core;
    std::map<TaskKey, const TaskEvent*> task_of;
    for (const TaskEvent& t : tasks) task_of[{t.launch, t.task}] = &t;
    std::vector<NodeId> ends;
    for (const JobEvent& j : jobs) {
      const Place p{int32_t(j.launch), -1};
      const NodeId from = g.node(p, j.from), until = g.node(p, j.until);
      g.edge(from, until, {{Step::poll, j.until - j.from}});
      if (ends.size() >= threads) g.edge(ends[ends.size() - threads], from);
      ends.push_back(until);
      if (!j.dispatch) {
        g.edge(by_task.at(on_core.at(j.core)).end, from, {{Step::acknowledge, acknowledge}});
        free_core[j.core] = until;
        g.edge(until, launch.at(j.launch).ended);
        continue;
      }
      g.edge(launch.at(j.launch).open, from);
      for (int64_t i = 0; i < j.count; ++i) {
        const int32_t core = j.core + int32_t(i);
        if (const auto free = free_core.find(core); free != free_core.end())
          g.edge(free->second, from);
        const TaskKey key{j.launch, j.task + i};
        on_core[core] = key;
        const int64_t way = task_of.at(key)->started - j.until;
        g.edge(until, by_task.at(key).start,
               {{way > warm ? Step::dispatch_cold : Step::dispatch_warm, way}});
      }
    }
    return end;
  }

  void build(int64_t cycles) {
    out.cycles = cycles;
    const NodeId root = graph().node({}, 0);
    group_tasks();
    add_nodes();
    semaphores();
    pairs();
    for (size_t i = 0; i < instructions.size(); ++i) inside(i);
    queues();
    issue();
    graph().seal(scheduler(root));
  }
};

std::string_view RunGraph::word(int32_t kind) const {
  if (kind < 0) return "chip";
  const std::string_view k = kinds[size_t(kind)];
  return k.substr(k.rfind('.') + 1);
}

GraphBuilder::GraphBuilder(RunFacts facts) : impl_(std::make_unique<Impl>()) {
  impl_->out.facts = std::move(facts);
}
GraphBuilder::~GraphBuilder() = default;

void GraphBuilder::unit(const UnitInfo& u) {
  Impl& b = *impl_;
  if (size_t(u.id) >= b.unit_index.size()) b.unit_index.resize(size_t(u.id) + 1, -1);
  b.unit_index[size_t(u.id)] = int32_t(b.units.size());
  b.units.push_back(u);
  b.by_unit.emplace_back();
  auto& kinds = b.out.kinds;
  const auto at = std::find(kinds.begin(), kinds.end(), u.kind);
  b.kind_of.push_back(int32_t(at - kinds.begin()));
  if (at == kinds.end()) kinds.push_back(u.kind);
}

void GraphBuilder::instruction(const InstructionEvent& e) {
  Impl& b = *impl_;
  if (b.instructions.size() >= kMostInstructions)
    throw UserError(
        fmt::format("the run has more than {} instructions: a critical path is read of "
                    "smaller ones",
                    kMostInstructions));
  b.by_unit[size_t(b.unit_index[size_t(e.unit)])].push_back(b.instructions.size());
  b.instructions.push_back(e);
  b.instructions.back().name = b.instructions.back().label = {};
}

void GraphBuilder::flow(const FlowEvent& f) { impl_->flows.push_back(f); }
void GraphBuilder::task(const TaskEvent& t) { impl_->tasks.push_back(t); }
void GraphBuilder::job(const JobEvent& j) { impl_->jobs.push_back(j); }
void GraphBuilder::launch(const LaunchEvent& l) {
  impl_->launches.emplace_back(l, std::vector<uint32_t>(l.after.begin(), l.after.end()));
}
void GraphBuilder::end(int64_t cycles) { impl_->build(cycles); }
RunGraph GraphBuilder::take() { return std::move(impl_->out); }

RunGraph read_run_graph(const std::string& path) {
  GraphBuilder builder(read_facts(path));
  Observer* const list[] = {&builder};
  const ReplayedRun run = replay_events(path, list);
  if (run.dropped > 0)
    throw UserError(
        fmt::format("{}: its size cap dropped {} instructions and arrows; run again with a "
                    "higher --trace-cap",
                    path, run.dropped));
  return builder.take();
}

}  // namespace daybreak::traces
