// What BlockSelect selects from (block_select.cuh says what a source gives).
#pragma once
#include "kernels/machines/hopper/device.cuh"

namespace daybreak::kernels::hopper {

// Elements of a selection by number.
template <int kScores, int kThreads> struct Block {
  static constexpr bool kNamed = false;
  static constexpr int kPairs = 4, kKeys = 1;
  const float* scores;
  int first;
  DAYBREAK_DEVICE float score(int i) const {
    if constexpr (kScores % kThreads != 0)
      if (i >= kScores) return -__int_as_float(0x7f800000);
    return scores[i];
  }
  DAYBREAK_DEVICE int32_t position(int i) const { return first + i; }
  DAYBREAK_DEVICE Ranked record(int i) const { return {scores[i], first + i}; }
};
// A list, and others that stand one after another.
template <int kSize> struct Records {
  static constexpr bool kNamed = false;
  static constexpr int kPairs = 1, kKeys = 2;
  const Ranked *first, *more;
  DAYBREAK_DEVICE Ranked record(int i) const { return (i < kSize ? first : more - kSize)[i]; }
  DAYBREAK_DEVICE float score(int i) const {
    const Ranked r = record(i);
    return r.position < 0 ? -__int_as_float(0x7f800000) : r.score;
  }
  DAYBREAK_DEVICE int32_t position(int i) const { return record(i).position; }
};

// Some elements of a block after those of a list that is full: the i-th of them is `order[i]`.
template <int kList, class From> struct Candidates {
  static constexpr bool kNamed = true;
  static constexpr int kKeys = 2;
  const Ranked* list;
  From from;
  const uint16_t* order;
  int count;
  DAYBREAK_DEVICE float score(int i) const {
    if (i < kList) return list[i].score;
    return i - kList < count ? from.score(order[i - kList]) : -__int_as_float(0x7f800000);
  }
  DAYBREAK_DEVICE int32_t position(int i) const {
    return i < kList ? list[i].position : from.position(order[i - kList]);
  }
  DAYBREAK_DEVICE uint16_t number(int i) const {
    return uint16_t(i < kList ? i : kList + order[i - kList]);
  }
};

}  // namespace daybreak::kernels::hopper
