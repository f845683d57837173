// Bookings of a bus in the near future: one bit per slot, a window that moves forward with time.
// Slots before the window count as free of bookings: the past is never searched.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace daybreak::sim {

class SlotRing {
 public:
  // At least `slots` slots from the current time on.
  explicit SlotRing(int64_t slots) {
    uint64_t words = 2;
    while (words * 64 < uint64_t(slots) + 128) words *= 2;
    words_.assign(words, 0);
    mask_ = words - 1;
  }

  // Slots below `now` are forgotten. Time never goes back.
  void advance(int64_t now) {
    const int64_t word = now >> 6;
    if (word <= first_) return;
    const int64_t stop = word - first_ > int64_t(mask_) ? first_ + int64_t(mask_) + 1 : word;
    for (; first_ < stop; ++first_) words_[uint64_t(first_) & mask_] = 0;
    first_ = word;
  }
  // First slot that can not be booked yet.
  int64_t limit() const { return (first_ + int64_t(mask_)) << 6; }

  // Bits of the 64 slots from `at` on; bit 0 is `at`.
  uint64_t bits(int64_t at) const {
    const uint64_t word = uint64_t(at >> 6), shift = uint64_t(at) & 63;
    const uint64_t low = words_[word & mask_] >> shift;
    return shift == 0 ? low : low | words_[(word + 1) & mask_] << (64 - shift);
  }

  // Marks the slots at + i of the bits i of `pattern`; what lies before the window is dropped.
  void mark_bits(int64_t at, uint64_t pattern) {
    const int64_t start = first_ << 6;
    if (at < start) {
      if (start - at >= 64) return;
      pattern >>= start - at;
      at = start;
    }
    const uint64_t word = uint64_t(at >> 6), shift = uint64_t(at) & 63;
    words_[word & mask_] |= pattern << shift;
    if (shift != 0) words_[(word + 1) & mask_] |= pattern >> (64 - shift);
  }

  // Marks [from, from + count); what lies before the window is dropped.
  void mark(int64_t from, int64_t count) {
    int64_t at = from < first_ << 6 ? first_ << 6 : from;
    const int64_t end = from + count;
    while (at < end) {
      const int64_t in_word = std::min<int64_t>(end - at, 64 - (at & 63));
      const uint64_t ones = in_word == 64 ? ~uint64_t{0} : (uint64_t{1} << in_word) - 1;
      words_[uint64_t(at >> 6) & mask_] |= ones << (at & 63);
      at += in_word;
    }
  }

 private:
  std::vector<uint64_t> words_;
  uint64_t mask_ = 0;
  int64_t first_ = 0;  // first word of the window
};

}  // namespace daybreak::sim
