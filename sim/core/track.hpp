// Stall accounting of one unit: every cycle gets exactly one cause. Neighbouring pieces of one
// state become one span; the spans tile the run.
#pragma once
#include "sim/core/run_state.hpp"

namespace daybreak::sim {

class Track {
 public:
  Track(RunState& run, int32_t unit) : run_(run), unit_(unit) {}

  int32_t unit() const { return unit_; }
  Cycle cursor() const { return cursor_; }
  // The unit was in this state from the cursor until `until`; nothing if that has been told
  // already.
  void until(Cycle until, traces::Cause cause, int64_t launch, int64_t waits_for = traces::kNone) {
    if (until <= cursor_) return;
    if (run_.observed()) extend(until, cause, launch, waits_for);
    cursor_ = until;
  }
  // The unit had no task until `until`: the timeline says why.
  void idle_until(Cycle until);
  // Emits what is still held back.
  void close();

 private:
  void extend(Cycle until, traces::Cause cause, int64_t launch, int64_t waits_for);
  RunState& run_;
  int32_t unit_;
  Cycle cursor_ = 0;
  traces::UnitSpan open_;
};

}  // namespace daybreak::sim
