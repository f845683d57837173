// Exact selection by a whole block: radix select on 32-bit keys, then, where more keys tie at the
// threshold than are wanted, on positions. The order is that of ref/ops/topk.hpp: score descending,
// position ascending, -0 = +0, NaN and -inf never.
#pragma once
#include "kernels/machines/hopper/device.cuh"

namespace daybreak::kernels::hopper {

// Greater keys are better scores; 0 is never selected.
DAYBREAK_DEVICE uint32_t selection_key(float score) {
  const uint32_t bits = __float_as_uint(score + 0.f);
  const uint32_t key = bits ^ (uint32_t(int32_t(bits) >> 31) | 0x80000000u);
  return score > -__int_as_float(0x7f800000) ? key : 0;  // NaN is not greater
}

// Selected: key > `key`, or the same key and a position of at most `last`.
struct Threshold {
  uint32_t key;
  int32_t last;
  DAYBREAK_DEVICE bool takes(uint32_t k, int32_t position) const {
    return k > key || (k == key && position <= last);
  }
};

// Shared memory of a selection.
struct SelectionWork {
  static constexpr int kBins = 2048;
  uint32_t bins[kBins];
  uint32_t warps[32];
  uint32_t digit, above, inside, total;
};

template <int kThreads> struct BlockSelect {
  static constexpr int kWarps = kThreads / kWarp, kBins = SelectionWork::kBins;
  static constexpr int kOwnBins = kBins / kThreads;  // bins a thread adds up
  static_assert(kBins % kThreads == 0);
  SelectionWork& w;

  // Sums of each warp's `x` over warps with a higher number and with a lower one, and over all.
  struct Sums {
    uint32_t above, below, all;
  };
  DAYBREAK_DEVICE Sums over_warps(uint32_t x) {
    const int warp = threadIdx.x / kWarp;
    if (lane() == 0) w.warps[warp] = x;
    __syncthreads();
    const uint32_t other = lane() < kWarps ? w.warps[lane()] : 0;
    return {__reduce_add_sync(~0u, lane() > warp ? other : 0),
            __reduce_add_sync(~0u, lane() < warp ? other : 0), __reduce_add_sync(~0u, other)};
  }

  // Finds the digit at which the count of digits from the highest down reaches `wanted`: the digit,
  // what lies above it and inside it. Waits for the counts.
  DAYBREAK_DEVICE void find_digit(uint32_t wanted) {
    __syncthreads();
    uint32_t own = 0;
#pragma unroll
    for (int i = 0; i < kOwnBins; ++i) own += w.bins[threadIdx.x * kOwnBins + i];
    uint32_t sum = own;  // of this lane's bins and those of higher lanes
#pragma unroll
    for (int d = 1; d < kWarp; d *= 2) {
      const uint32_t other = __shfl_down_sync(~0u, sum, d);
      if (lane() + d < kWarp) sum += other;
    }
    const Sums warps = over_warps(__shfl_sync(~0u, sum, 0));
    if (threadIdx.x == 0) w.total = warps.all;
    uint32_t above = warps.above + sum - own;
    if (above < wanted && above + own >= wanted)
#pragma unroll
      for (int i = kOwnBins - 1; i >= 0; --i) {
        const uint32_t inside = w.bins[threadIdx.x * kOwnBins + i];
        if (above < wanted && above + inside >= wanted)
          w.digit = threadIdx.x * kOwnBins + i, w.above = above, w.inside = inside;
        above += inside;
      }
    __syncthreads();
  }
  DAYBREAK_DEVICE void clear_counts() {
#pragma unroll
    for (int i = 0; i < kOwnBins; ++i) w.bins[i * kThreads + threadIdx.x] = 0;
    __syncthreads();
  }
  // One pass over this thread's elements; a negative digit is none.
  template <int kOwn, class Digit> DAYBREAK_DEVICE void radix_pass(uint32_t wanted, Digit digit) {
    clear_counts();
#pragma unroll(kOwn* kThreads <= 16384 ? kOwn : 8)
    for (int j = 0; j < kOwn; ++j) {
      const int d = digit(j);
      if (d >= 0) atomicAdd(&w.bins[d], 1u);
    }
    find_digit(wanted);
  }

  // The threshold of the best `wanted` of the block's elements, kOwn of them a thread's: keys[j], and
  // by number source(i) = {key, position}, which is looked at where keys tie.
  template <int kOwn, class Keys, class Source>
  DAYBREAK_DEVICE Threshold threshold(const Keys& keys, uint32_t wanted, int count, Source source) {
    radix_pass<kOwn>(wanted, [&](int j) {
      const uint32_t key = keys[j];
      return key ? int(key >> 21) : -1;
    });
    if (w.total <= wanted) return {0, -1};  // all that can be selected
    uint32_t prefix = 0;
    if (narrow<11>(prefix, wanted)) return {(prefix << 21) - 1, -1};
    radix_pass<kOwn>(wanted, [&](int j) {
      const uint32_t key = keys[j];
      return key >> 21 == prefix ? int(key >> 10 & 2047) : -1;
    });
    if (narrow<11>(prefix, wanted)) return {(prefix << 10) - 1, -1};
    radix_pass<kOwn>(wanted, [&](int j) {
      const uint32_t key = keys[j];
      return key >> 10 == prefix ? int(key & 1023) : -1;
    });
    if (narrow<10>(prefix, wanted)) return {prefix - 1, -1};
    return {prefix, last_of_tied(prefix, wanted, count, source)};
  }

  // write(j, place) for every element taken; places follow the order of elements. How many there are.
  template <int kOwn, class Keys, class Position, class Write>
  DAYBREAK_DEVICE uint32_t emit(const Keys& keys, const Threshold& t, Position position,
                                Write write) {
    const bool by_key = t.last < 0;
    const auto mask = [&](int j) {
      return __ballot_sync(~0u, by_key ? keys[j] > t.key : t.takes(keys[j], position(j)));
    };
    uint32_t mine = 0;
#pragma unroll(kOwn* kThreads <= 16384 ? kOwn : 8)
    for (int j = 0; j < kOwn; ++j) mine += __popc(mask(j));
    const Sums warps = over_warps(mine);
    const uint32_t lower = (1u << lane()) - 1;
    uint32_t at = warps.below;
#pragma unroll(kOwn* kThreads <= 16384 ? kOwn : 8)
    for (int j = 0; j < kOwn; ++j) {
      const uint32_t taken = mask(j);
      if (taken >> lane() & 1) write(j, at + __popc(taken & lower));
      at += __popc(taken);
    }
    return warps.all;
  }

 private:
  // Takes the digit that a pass has found. True: all elements inside it are wanted.
  template <int kBits> DAYBREAK_DEVICE bool narrow(uint32_t& prefix, uint32_t& wanted) {
    prefix = prefix << kBits | w.digit;
    wanted -= w.above;
    const bool whole = w.inside == wanted;
    __syncthreads();
    return whole;
  }
  // The highest of the `wanted` lowest positions among elements of one key. Rare: loops stay small.
  template <class Source>
  DAYBREAK_DEVICE int32_t last_of_tied(uint32_t key, uint32_t wanted, int count, Source source) {
    uint32_t prefix = 0;
#pragma unroll 1
    for (int below = 33; below > 0; below -= 11) {
      clear_counts();
#pragma unroll 1
      for (int i = threadIdx.x; i < count; i += kThreads) {
        const uint64_t from_last = uint32_t(~source.position(i));
        if (source.key(i) == key && from_last >> below == prefix)
          atomicAdd(&w.bins[from_last >> (below - 11) & 2047], 1u);
      }
      find_digit(wanted);
      narrow<11>(prefix, wanted);
    }
    return int32_t(~prefix);
  }
};

}  // namespace daybreak::kernels::hopper
