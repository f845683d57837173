#include "traces/report/waterfall.hpp"

#include <algorithm>
#include <cmath>

namespace daybreak::traces {
namespace {

// The step that a stall cause belongs to; layout is what is left.
int64_t Waterfall::*step_of(Cause cause) {
  switch (cause) {
    case Cause::issue_order:
    case Cause::fifo_full: return &Waterfall::issue;
    case Cause::semaphore:
    case Cause::ring_slot:
    case Cause::workspace: return &Waterfall::sync;
    case Cause::no_task:
    case Cause::launch: return &Waterfall::dispatch;
    default: return nullptr;
  }
}

}  // namespace

Waterfall waterfall(const LaunchAccount& launch, double floor_cycles) {
  Waterfall out;
  out.actual = launch.cycles();
  out.floor = std::min(int64_t(std::llround(floor_cycles)), out.actual);
  const KindAccount* unit = launch.bounding();
  int64_t left = out.actual - out.floor;
  const int64_t attributed = unit ? total(unit->all) : 0;
  if (attributed == 0) {
    out.layout = left;
    return out;
  }
  out.unit = std::string(unit->word());
  for (size_t i = 0; i < unit->all.size(); ++i)
    if (const auto step = step_of(Cause(i))) out.*step += unit->all[i];
  for (const auto step : {&Waterfall::issue, &Waterfall::sync, &Waterfall::dispatch})
    out.*step = int64_t(double(out.*step) / double(attributed) * double(out.actual));
  // What does not fit beside the floor was covered by it.
  for (const auto step : {&Waterfall::dispatch, &Waterfall::issue, &Waterfall::sync}) {
    out.*step = std::min(out.*step, left);
    left -= out.*step;
  }
  out.layout = left;
  return out;
}

}  // namespace daybreak::traces
