// Requests on their way to a controller, by time of arrival, first in first out within one instant:
// a queue that is all but always appended to.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace daybreak::sim {

struct Arrival {
  int64_t at;  // tick
  uint64_t owner;
  uint32_t row;
  uint16_t bank : 15, write : 1;
  uint16_t atoms;
};

class Arrivals {
 public:
  bool empty() const { return head_ == waiting_.size(); }
  const Arrival& front() const { return waiting_[head_]; }
  Arrival& front() { return waiting_[head_]; }
  void pop() {
    ++head_;
    if (head_ < kCompact || 2 * head_ < waiting_.size()) return;
    waiting_.erase(waiting_.begin(), waiting_.begin() + int64_t(head_));
    head_ = 0;
  }
  // True when it is the first now.
  bool push(const Arrival& a) {
    if (empty() || waiting_.back().at <= a.at) {
      waiting_.push_back(a);
      return waiting_.size() == head_ + 1;
    }
    const auto place =
        std::upper_bound(waiting_.begin() + int64_t(head_), waiting_.end(), a.at,
                         [](int64_t at, const Arrival& other) { return at < other.at; });
    const bool first = place == waiting_.begin() + int64_t(head_);
    waiting_.insert(place, a);
    return first;
  }

 private:
  static constexpr size_t kCompact = 64;  // popped ones that are kept at least
  std::vector<Arrival> waiting_;          // from head_ on
  size_t head_ = 0;
};

}  // namespace daybreak::sim
