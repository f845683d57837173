// Events in integer time, first in first out within one instant: a ring of buckets for the near
// future and a heap for the rest. Push and pop cost a few nanoseconds and do not allocate once
// warm.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace daybreak::sim {

template <class Payload> class EventWheel {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  EventWheel() : head_(kBuckets, -1), tail_(kBuckets, -1) {}

  bool empty() const { return size_ == 0; }
  int64_t size() const { return size_; }

  // `at` must not lie before the time of the last pop.
  void push(int64_t at, const Payload& payload) {
    ++size_;
    if (at < next_) next_ = at;
    if (at - now_ >= kBuckets) {
      far_.push_back({at, sequence_++, payload});
      std::push_heap(far_.begin(), far_.end());
      return;
    }
    append(at, payload);
  }

  // Time of the earliest event, kNever without one.
  int64_t next() const { return next_; }

  // Time of the earliest event after `at` that is near, else kNever. Not before the last pop.
  int64_t next_after(int64_t at) const {
    if (at == kNever || at + 1 - now_ >= kBuckets) return kNever;
    const int64_t found = find_near(at + 1);
    return found - now_ < kBuckets ? found : kNever;
  }
  // Calls f(payload) for the events of an instant that are known by now; `at` as above.
  template <class F> void peek(int64_t at, F&& f) const {
    if (at == kNever) return;
    for (int32_t node = head_[int(at & (kBuckets - 1))]; node >= 0; node = nodes_[node].next)
      f(nodes_[node].payload);
  }

  // Takes the first event at or before `limit`: its time and payload. False without one.
  bool pop(int64_t limit, int64_t& at, Payload& payload) {
    if (next_ > limit) return false;
    if (next_ > now_) advance(next_);
    const int bucket = int(now_ & (kBuckets - 1));
    const int32_t node = head_[bucket];
    at = now_;
    payload = nodes_[node].payload;
    head_[bucket] = nodes_[node].next;
    nodes_[node].next = free_;
    free_ = node;
    --size_;
    if (head_[bucket] < 0) {
      tail_[bucket] = -1;
      used_[bucket >> 6] &= ~(uint64_t{1} << (bucket & 63));
      next_ = find_next();
    }
    return true;
  }

 private:
  static constexpr int64_t kBuckets = 2048;
  struct Node {
    Payload payload;
    int32_t next;
  };
  struct Far {
    int64_t at;
    uint64_t sequence;
    Payload payload;
    // std heaps put the largest first: the earliest is the largest here.
    bool operator<(const Far& o) const { return at != o.at ? at > o.at : sequence > o.sequence; }
  };

  void append(int64_t at, const Payload& payload) {
    int32_t node = free_;
    if (node >= 0) {
      free_ = nodes_[node].next;
      nodes_[node] = {payload, -1};
    } else {
      node = int32_t(nodes_.size());
      nodes_.push_back({payload, -1});
    }
    const int bucket = int(at & (kBuckets - 1));
    if (tail_[bucket] < 0) {
      head_[bucket] = node;
      used_[bucket >> 6] |= uint64_t{1} << (bucket & 63);
    } else {
      nodes_[tail_[bucket]].next = node;
    }
    tail_[bucket] = node;
  }

  // Moves the ring's start to `to`; events of the heap that now fit enter the ring before any later
  // push of the same instant can.
  void advance(int64_t to) {
    now_ = to;
    while (!far_.empty() && far_.front().at - now_ < kBuckets) {
      std::pop_heap(far_.begin(), far_.end());
      append(far_.back().at, far_.back().payload);
      far_.pop_back();
    }
  }

  int64_t find_next() const {
    const int64_t near = find_near(now_);
    return near != kNever || far_.empty() ? near : far_.front().at;
  }

  // Time of the first bucket in use, looked for from the one of `from` on all round.
  int64_t find_near(int64_t from) const {
    const int start = int(from & (kBuckets - 1));
    for (int i = 0; i <= kWords; ++i) {
      const int word = ((start >> 6) + i) & (kWords - 1);
      uint64_t bits = used_[word];
      if (i == 0) bits &= ~uint64_t{0} << (start & 63);
      if (i == kWords) bits &= ~(~uint64_t{0} << (start & 63));
      if (bits == 0) continue;
      const int bucket = (word << 6) + std::countr_zero(bits);
      return from + ((bucket - start) & (kBuckets - 1));
    }
    return kNever;
  }

  static constexpr int kWords = int(kBuckets / 64);
  std::vector<Node> nodes_;
  std::vector<int32_t> head_, tail_;
  uint64_t used_[kWords] = {};
  std::vector<Far> far_;
  int32_t free_ = -1;
  int64_t now_ = 0, next_ = kNever, size_ = 0;
  uint64_t sequence_ = 0;
};

}  // namespace daybreak::sim
