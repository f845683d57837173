#include "traces/analysis/diff.hpp"

#include <cstdlib>
#include <map>

namespace daybreak::traces {
namespace {

class TaskList : public Observer {
 public:
  void task(const TaskEvent& t) override { tasks.push_back(t); }
  std::vector<TaskEvent> tasks;
};

// Launch numbers by (kernel, occurrence); what belongs to no launch is under an empty name.
using Key = std::pair<std::string, int>;
std::vector<std::pair<Key, int64_t>> launches(const DiffSide& side) {
  std::map<std::string, int> seen;
  std::vector<std::pair<Key, int64_t>> out{{{"", 0}, kNone}};
  for (size_t l = 0; l < side.facts.kernels.size(); ++l) {
    const std::string& kernel = side.facts.kernels[l];
    out.push_back({{kernel, seen[kernel]++}, int64_t(l)});
  }
  return out;
}

std::vector<StepChange> changes(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<StepChange> out;
  for (size_t s = 0; s < kSteps; ++s)
    if (a[s] != b[s]) out.push_back({Step(s), a[s], b[s]});
  std::stable_sort(out.begin(), out.end(), [](const StepChange& x, const StepChange& y) {
    return std::abs(x.change()) > std::abs(y.change());
  });
  return out;
}

std::map<int64_t, int64_t> task_cycles(const DiffSide& side, int64_t launch) {
  std::map<int64_t, int64_t> out;
  for (const TaskEvent& t : side.tasks)
    if (t.launch == launch) out[t.task] = t.ended - t.started;
  return out;
}

void add(std::vector<int64_t>& sum, const std::vector<int64_t>& more) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

int64_t total_of(const std::vector<int64_t>& v) {
  int64_t out = 0;
  for (const int64_t x : v) out += x;
  return out;
}

}  // namespace

DiffSide read_diff_side(const std::string& path) {
  const RunGraph graph = read_run_graph(path);
  TaskList list;
  Observer* const observers[] = {&list};
  replay_events(path, observers);
  return {graph.facts, critical_path(graph), std::move(list.tasks)};
}

RunDiff diff(const DiffSide& a, const DiffSide& b) {
  RunDiff out{.before = a.path.cycles, .after = b.path.cycles};
  const auto in_a = launches(a), in_b = launches(b);
  const auto number = [](const auto& list, const Key& key) -> const int64_t* {
    for (const auto& [k, launch] : list)
      if (k == key) return &launch;
    return nullptr;
  };
  std::vector<Key> keys;
  for (const auto& [key, launch] : in_b) keys.push_back(key);
  for (const auto& [key, launch] : in_a)
    if (!number(in_b, key)) keys.push_back(key);
  std::vector<int64_t> sum_a(kSteps, 0), sum_b(kSteps, 0);
  for (const Key& key : keys) {
    const int64_t *from = number(in_a, key), *to = number(in_b, key);
    const std::vector<int64_t> none(kSteps, 0), before = from ? path_cycles(a.path, *from) : none,
                                                after = to ? path_cycles(b.path, *to) : none;
    add(sum_a, before), add(sum_b, after);
    KernelDiff k{
        .kernel = key.second ? key.first + " " + std::to_string(key.second + 1) : key.first,
        .in_a = from != nullptr,
        .in_b = to != nullptr,
        .before = total_of(before),
        .after = total_of(after),
        .steps = changes(before, after)};
    const auto tasks_a = from ? task_cycles(a, *from) : std::map<int64_t, int64_t>{},
               tasks_b = to ? task_cycles(b, *to) : std::map<int64_t, int64_t>{};
    k.tasks_before = int64_t(tasks_a.size()), k.tasks_after = int64_t(tasks_b.size());
    for (const auto& [task, cycles] : tasks_a)
      if (const auto same = tasks_b.find(task); same != tasks_b.end())
        k.task_cycles_before += cycles, k.task_cycles_after += same->second;
    if (k.before != 0 || k.after != 0) out.kernels.push_back(std::move(k));
  }
  out.steps = changes(sum_a, sum_b);
  return out;
}

}  // namespace daybreak::traces
