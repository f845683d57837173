// Why idle cores idle, over the whole run: change points that the scheduler appends as launches
// become ready, start, run out of tasks and end.
#pragma once
#include <vector>

#include "sim/core/clock.hpp"
#include "traces/event/event.hpp"

namespace daybreak::sim {

class Timeline {
 public:
  struct Point {
    Cycle from;
    traces::Cause cause;
    int64_t launch;
  };
  // `from` never decreases; a later word for the same cycle replaces the earlier one.
  void change(Cycle from, traces::Cause cause, int64_t launch) {
    if (!points_.empty() && points_.back().from == from) points_.pop_back();
    if (!points_.empty() && points_.back().cause == cause && points_.back().launch == launch)
      return;
    points_.push_back({from, cause, launch});
  }
  // f(begin, end, point) for the pieces of [begin, end), in order.
  template <class F> void each(Cycle begin, Cycle end, F&& f) const {
    size_t i = first(begin);
    while (begin < end) {
      const Cycle until = i + 1 < points_.size() ? std::min(end, points_[i + 1].from) : end;
      if (until > begin) f(begin, until, points_[i]);
      begin = std::max(begin, until);
      ++i;
    }
  }

 private:
  // Index of the piece that holds `c`.
  size_t first(Cycle c) const {
    size_t low = 0, high = points_.size();
    while (high - low > 1) {
      const size_t middle = (low + high) / 2;
      (points_[middle].from <= c ? low : high) = middle;
    }
    return low;
  }
  std::vector<Point> points_{{0, traces::Cause::no_task, traces::kNone}};
};

}  // namespace daybreak::sim
