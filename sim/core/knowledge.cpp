#include "sim/core/knowledge.hpp"

#include <algorithm>

namespace daybreak::sim {

ForeignRef join(const ForeignRef& a, const ForeignRef& b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto out = std::make_shared<Foreign>();
  out->reserve(a->size() + b->size());
  auto i = a->begin(), j = b->begin();
  while (i != a->end() || j != b->end()) {
    if (j == b->end() || (i != a->end() && i->first < j->first)) {
      out->push_back(*i++);
    } else if (i == a->end() || j->first < i->first) {
      out->push_back(*j++);
    } else {
      Sequences both;
      for (int q = 0; q < isa::kQueues; ++q) both[q] = std::max(i->second[q], j->second[q]);
      out->emplace_back(i->first, both);
      ++i, ++j;
    }
  }
  return out;
}

bool Knowledge::knows(uint32_t task, isa::Queue queue, Sequence sequence) const {
  if (!foreign) return false;
  const auto at = std::lower_bound(foreign->begin(), foreign->end(), task,
                                   [](const auto& entry, uint32_t t) { return entry.first < t; });
  return at != foreign->end() && at->first == task && at->second[int(queue)] >= sequence;
}

}  // namespace daybreak::sim
