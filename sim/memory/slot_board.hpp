// Bookings of several buses in the near future: one bit per slot and lane, a window that moves
// forward with time and keeps a piece of the past, because a booking also blocks slots before it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace daybreak::sim {

class SlotBoard {
 public:
  // At least `ahead` slots from the current time on can be booked, and `past` slots before it
  // marked.
  SlotBoard(int64_t ahead, int64_t past, int64_t lanes)
      : lanes_(uint64_t(lanes)), past_((past + 63) >> 6) {
    uint64_t words = 2;
    while (words * 64 < uint64_t(ahead) + uint64_t(past_) * 64 + 128) words *= 2;
    words_.assign(words * lanes_, 0);
    mask_ = words - 1;
    first_ = -past_;
  }

  // Slots below `now` are of no interest any more. Time never goes back.
  void advance(int64_t now) {
    const int64_t word = (now >> 6) - past_;
    if (word > first_) forget(word);
  }
  // First slot that can not be booked yet.
  int64_t limit() const { return (first_ + int64_t(mask_)) << 6; }

  // The 64 slots from `at` on and the 64 after them; bit 0 of `low` is `at`.
  struct Bits {
    uint64_t low, high;
  };
  // Slots booked in any of the lanes.
  template <class... Lanes> uint64_t booked(int64_t at, Lanes... lanes) const {
    const uint64_t word = uint64_t(at >> 6), shift = uint64_t(at) & 63;
    const uint64_t *a = row(word), *b = row(word + 1);
    return joined((a[lanes] | ...), (b[lanes] | ...), shift);
  }
  template <class... Lanes> Bits booked_twice(int64_t at, Lanes... lanes) const {
    const uint64_t word = uint64_t(at >> 6), shift = uint64_t(at) & 63;
    const uint64_t *a = row(word), *b = row(word + 1), *c = row(word + 2);
    const uint64_t middle = (b[lanes] | ...);
    return {joined((a[lanes] | ...), middle, shift), joined(middle, (c[lanes] | ...), shift)};
  }

  // Marks the slots at + i of the bits i of `pattern`.
  void mark_bits(uint64_t lane, int64_t at, uint64_t pattern) {
    const uint64_t word = uint64_t(at >> 6), shift = uint64_t(at) & 63;
    row(word)[lane] |= pattern << shift;
    row(word + 1)[lane] |= pattern >> 1 >> (63 - shift);
  }

  // Marks [from, from + count).
  void mark(uint64_t lane, int64_t from, int64_t count) {
    for (; count > 64; from += 64, count -= 64) mark_bits(lane, from, ~uint64_t{0});
    if (count > 0) mark_bits(lane, from, ~uint64_t{0} >> (64 - count));
  }

 private:
  const uint64_t* row(uint64_t word) const { return &words_[(word & mask_) * lanes_]; }
  uint64_t* row(uint64_t word) { return &words_[(word & mask_) * lanes_]; }
  static uint64_t joined(uint64_t low, uint64_t high, uint64_t shift) {
    return low >> shift | high << 1 << (63 - shift);
  }
  void forget(int64_t word) {
    const int64_t stop = std::min(word, first_ + int64_t(mask_) + 1);
    for (; first_ < stop; ++first_) std::fill_n(row(uint64_t(first_)), lanes_, 0);
    first_ = word;
  }

  std::vector<uint64_t> words_;  // the lanes of a word lie side by side
  uint64_t mask_ = 0, lanes_;
  int64_t past_, first_;  // words: kept of the past, first of the window
};

}  // namespace daybreak::sim
