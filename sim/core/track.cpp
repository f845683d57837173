#include "sim/core/track.hpp"

namespace daybreak::sim {

void Track::extend(Cycle until, traces::Cause cause, int64_t launch, int64_t waits_for) {
  const bool same = open_.end == cursor_ && open_.end > open_.begin && open_.cause == cause &&
                    open_.launch == launch && open_.waits_for == waits_for;
  if (!same) {
    close();
    open_ = {.unit = unit_,
             .begin = cursor_,
             .end = cursor_,
             .cause = cause,
             .launch = launch,
             .waits_for = waits_for};
  }
  open_.end = until;
}

void Track::idle_until(Cycle end) {
  if (end <= cursor_) return;
  if (!run_.observed()) {
    cursor_ = end;
    return;
  }
  run_.timeline.each(cursor_, end, [&](Cycle, Cycle piece_end, const Timeline::Point& p) {
    until(piece_end, p.cause, p.launch);
  });
}

void Track::close() {
  if (open_.end > open_.begin) run_.observe([&](traces::Observer& o) { o.span(open_); });
  open_ = {};
}

}  // namespace daybreak::sim
