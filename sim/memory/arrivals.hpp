// Requests on their way to a controller, by time of arrival, first in first out within one instant:
// a ring that is all but always appended to.
#pragma once
#include <cstdint>
#include <vector>

namespace daybreak::sim {

struct Arrival {
  int64_t at;  // tick
  uint64_t owner;
  uint32_t row;
  uint16_t bank, atoms;
};

class Arrivals {
 public:
  bool empty() const { return head_ == tail_; }
  const Arrival& front() const { return ring_[head_ & mask_]; }
  void pop() { ++head_; }
  // True when it is the first now.
  bool push(const Arrival& a) {
    if (tail_ - head_ == ring_.size()) grow();
    uint64_t place = tail_++;
    for (; place != head_ && ring_[(place - 1) & mask_].at > a.at; --place) {
      ring_[place & mask_] = ring_[(place - 1) & mask_];
    }
    ring_[place & mask_] = a;
    return place == head_;
  }

 private:
  void grow() {
    std::vector<Arrival> larger(ring_.empty() ? 64 : ring_.size() * 2);
    for (uint64_t i = head_; i != tail_; ++i) larger[i - head_] = ring_[i & mask_];
    tail_ -= head_;
    head_ = 0;
    ring_ = std::move(larger);
    mask_ = ring_.size() - 1;
  }
  std::vector<Arrival> ring_;
  uint64_t head_ = 0, tail_ = 0, mask_ = 0;
};

}  // namespace daybreak::sim
