#include "sim/core/counters.hpp"

namespace daybreak::sim {

Cycle Counters::reached_at(size_t counter, int64_t count) const {
  if (count <= 0) return 0;
  const auto& signals = all_[counter].signals;
  return int64_t(signals.size()) >= count ? signals[size_t(count) - 1].given + latency_ : kNever;
}

Counters::Learned Counters::learn(size_t counter, int64_t count, Cycle at) const {
  const auto& signals = all_[counter].signals;
  if (count <= 0) return {};
  const Signal& needed = signals[size_t(count) - 1];
  size_t last = size_t(count) - 1;
  while (last + 1 < signals.size() && signals[last + 1].given + latency_ <= at) ++last;
  return {signals[last].facts, needed.given, needed.unit};
}

void Counters::signal(size_t counter, Cycle at, int32_t unit, const ForeignRef& facts) {
  auto& signals = all_[counter].signals;
  signals.push_back({at, unit, signals.empty() ? facts : join(signals.back().facts, facts)});
}

}  // namespace daybreak::sim
