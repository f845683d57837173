// Two runs side by side: kernels aligned by name and occurrence, tasks by number. The critical
// paths of both add up to their cycles, so the change by step adds up to the change in cycles.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "traces/analysis/critical_path.hpp"

namespace daybreak::traces {

struct StepChange {
  Step step = Step::other;
  int64_t before = 0, after = 0;  // cycles on the path
  int64_t change() const { return after - before; }
};

struct KernelDiff {
  std::string kernel;
  bool in_a = true, in_b = true;
  int64_t before = 0, after = 0;  // cycles of the path in it
  int64_t tasks_before = 0, tasks_after = 0;
  int64_t task_cycles_before = 0,
          task_cycles_after = 0;  // sums over tasks that both ran, by number
  std::vector<StepChange> steps;  // changed ones, most cycles first
};

struct RunDiff {
  int64_t before = 0, after = 0;
  std::vector<StepChange> steps;
  std::vector<KernelDiff>
      kernels;  // in the order of the second run; those only in the first follow
};

// What diff needs of one run.
struct DiffSide {
  RunFacts facts;
  CriticalPath path;
  std::vector<TaskEvent> tasks;
};
DiffSide read_diff_side(const std::string& path);
RunDiff diff(const DiffSide& a, const DiffSide& b);

}  // namespace daybreak::traces
