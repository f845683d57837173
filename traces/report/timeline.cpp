#include "traces/report/timeline.hpp"

#include <algorithm>

namespace daybreak::traces {

void Timeline::unit(const UnitInfo& u) {
  auto at =
      std::find_if(kinds_.begin(), kinds_.end(), [&](const Kind& k) { return k.name == u.kind; });
  if (at == kinds_.end()) at = kinds_.insert(kinds_.end(), Kind{.name = u.kind});
  ++at->units;
  if (size_t(u.id) >= kind_of_.size()) kind_of_.resize(size_t(u.id) + 1);
  kind_of_[size_t(u.id)] = size_t(at - kinds_.begin());
}

void Timeline::span(const UnitSpan& s) {
  if (s.cause == Cause::busy)
    kinds_[kind_of_[size_t(s.unit)]].busy.add(s.begin, s.end, s.end - s.begin);
}

void Timeline::launch(const LaunchEvent& l) {
  launches_.push_back({std::string(l.kernel), l.ready, l.started, l.ended});
}

}  // namespace daybreak::traces
