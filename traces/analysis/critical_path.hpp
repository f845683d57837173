// The chain of work that made the run as long as it was, and what shortening each kind of work
// would gain at most.
//
//   const CriticalPath path = critical_path(read_run_graph("out/run.events"));
//   path.steps.front()   // the step with most to gain: {ring slot, 812 cycles on the path, ...}
//
// The pieces add up to the run's cycles. A load whose start waited for a ring slot is charged to
// the slot until its data are there: with more slots it would have been there before.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traces/analysis/run_graph.hpp"

namespace daybreak::traces {

struct CriticalPath {
  struct Piece {
    int32_t launch = -1;
    std::string kernel, unit;
    Step step = Step::other;
    int64_t begin = 0, end = 0;
  };
  // `gain`: how much shorter the run is when this costs nothing and all else keeps its order, an
  // upper bound for anything that makes it faster.
  struct Row {
    std::string_view name;
    int64_t cycles = 0, gain = 0;
    std::string_view knobs = {};
  };
  // The least delay of any instruction of a unit in a kernel that would delay the run.
  struct Slack {
    std::string kernel, unit;
    int64_t cycles = 0;
  };
  int64_t cycles = 0;
  std::vector<Piece> pieces;
  std::vector<Row> steps;  // most on the path first
  std::vector<Row> whos;   // the same for all steps of a unit together
  std::vector<Slack> slack;
};

CriticalPath critical_path(const RunGraph&);

// Cycles of the path by step, of one launch (kNone: outside every launch).
std::vector<int64_t> path_cycles(const CriticalPath&, int64_t launch);

// Cycles of a run whose steps in `free` cost nothing (limits among them are lifted).
int64_t cycles_without(const RunGraph&, const std::vector<Step>& free);

}  // namespace daybreak::traces
