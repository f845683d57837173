// Exact selection by a whole block. Scores are counted by bins until few enough share the bin in
// which the selection ends; those are ranked one against the other. The order is that of
// ref/ops/topk.hpp: score descending, position ascending, -0 = +0, NaN and -inf never.
#pragma once
#include "kernels/machines/hopper/selection_keys.cuh"
#include "kernels/machines/hopper/selection_sources.cuh"

namespace daybreak::kernels::hopper {

struct Keys {
  uint32_t low, high;
};

// Shared memory of a selection.
struct SelectionWork {
  static constexpr int kBins = CoarseBins::kBins, kElements = 32768, kRivals = 256;
  static constexpr int kSize = 2048, kCandidates = 4096;
  uint32_t bins[kBins];
  uint32_t taken[kElements / 32];  // a bit an element
  uint16_t order[kCandidates];     // numbers of the elements taken, ascending
  uint64_t rivals[kRivals];        // for the last places: greater ones are better
  uint16_t numbers[kRivals];       // which elements they are
  uint32_t better[kRivals];        // how many of the others are better
  uint32_t warps[32];
  Keys extents[32];
  uint32_t bin, above, inside, total, rival_count;
};

// Selects among the kElements elements of a source: score(i), -inf for none and up to the next
// multiple of the threads; position(i); and, where it is kNamed, number(i), which stands in the order
// in place of i. kPairs of scores are counted together, kKeys looked at together.
template <int kThreads, int kElements> struct BlockSelect {
  static constexpr int kWarps = kThreads / kWarp, kBins = SelectionWork::kBins;
  static constexpr int kOwn = (kElements + kThreads - 1) / kThreads;  // elements a thread looks at
  static constexpr int kOwnBins = kBins / kThreads;                   // bins a thread adds up
  static constexpr uint32_t kFarthest = 0x7fffffff;                   // position
  static constexpr int kCandidates = SelectionWork::kCandidates;
  static constexpr int kFine = 13;  // 1024 bins of 2^13 keys from a power of two to the next
  static constexpr uint32_t kHighest = 0xff800000;  // key: +inf
  static_assert(kBins % kThreads == 0 && kOwn <= 32 && kElements <= SelectionWork::kElements);
  SelectionWork& w;

  // Fills `order` with the best `wanted` of the elements and returns how many there are. Waits for
  // the elements, and for the order.
  template <class Source> DAYBREAK_DEVICE int run(const Source& from, uint32_t wanted) {
    clear();
    __syncthreads();
    if constexpr (kElements >= kSampled) {
      if (const uint32_t low = sampled(from, wanted); low != 0) {
        const int count = gather(from, low);
        if (count >= int(wanted) && count <= kCandidates)
          return BlockSelect<kThreads, kCandidates>{w}.among(
              Candidates<0, Source>{nullptr, from, w.order, count}, {low, kHighest}, kFine, count,
              wanted);
      } else {
        clear();
        __syncthreads();
      }
    }
    return finish(from, coarse(from, wanted), wanted);
  }

  // The same where only `count` elements or fewer have keys of `keys`, after another order. The best
  // `wanted` are expected to end in the first bins of 2^shift keys.
  template <class Source>
  DAYBREAK_DEVICE int among(const Source& from, Keys keys, int shift, int count, uint32_t wanted) {
    Range range{keys.low, keys.high, wanted, uint32_t(count)};
    if (!settled(range)) narrow(from, range, shift);
    return finish(from, range, wanted);
  }
  static DAYBREAK_DEVICE int shift_of(uint32_t low, uint32_t high) {
    return max(0, 21 - __clz(high - low));
  }

  // The lowest and the highest key of all elements; 0 for the lowest where some of them are none.
  // Leaves all clear.
  template <class Source> DAYBREAK_DEVICE Keys extent(const Source& from) {
    clear();
    Keys own{~0u, 0};
#pragma unroll(Source::kKeys)
    for (int i = threadIdx.x; i < kElements; i += kThreads) {
      const uint32_t key = key_of(from.score(i));
      own.low = min(own.low, key >= CoarseBins::kLowest ? key : 0);
      own.high = max(own.high, key);
    }
    own.low = __reduce_min_sync(~0u, own.low), own.high = __reduce_max_sync(~0u, own.high);
    if (lane() == 0) w.extents[threadIdx.x / kWarp] = own;
    __syncthreads();
    if (lane() < kWarps) own = w.extents[lane()];
    return {__reduce_min_sync(~0u, own.low), __reduce_max_sync(~0u, own.high)};
  }

  // Fills `order` with the numbers of all elements whose keys are `low` or higher, and returns how
  // many there are, also where that is more than kCandidates.
  template <class Source> DAYBREAK_DEVICE int gather(const Source& from, uint32_t low) {
    clear();
    set_taken(compare(from, score_of(low), score_of(low)).taken);
    __syncthreads();
    return number(from, kCandidates);
  }

 private:
  static constexpr int kSampled = 16384;  // elements from which on a sample comes first: 1 of 8

  // Keys within which the selection ends: places left in it, and elements.
  struct Range {
    uint32_t low, high, wanted, inside;
  };
  struct Marks {  // a bit an own element
    uint32_t taken, rivals;
  };
  struct Sums {  // of the warps' values: over those with a higher number, a lower one, and all
    uint32_t above, below, all;
  };

  // Bins and rivals.
  DAYBREAK_DEVICE void clear() {
#pragma unroll
    for (int i = 0; i < kOwnBins; ++i) w.bins[i * kThreads + threadIdx.x] = 0;
    if (threadIdx.x < SelectionWork::kRivals) w.better[threadIdx.x] = 0;
    if (threadIdx.x == 0) w.rival_count = 0;
  }
  DAYBREAK_DEVICE Sums over_warps(uint32_t x) {
    const int warp = threadIdx.x / kWarp;
    if (lane() == 0) w.warps[warp] = x;
    __syncthreads();
    const uint32_t other = lane() < kWarps ? w.warps[lane()] : 0;
    return {__reduce_add_sync(~0u, lane() > warp ? other : 0),
            __reduce_add_sync(~0u, lane() < warp ? other : 0), __reduce_add_sync(~0u, other)};
  }
  // Of this lane and those below.
  static DAYBREAK_DEVICE uint32_t sum_of_lower(uint32_t x) {
#pragma unroll
    for (int d = 1; d < kWarp; d *= 2) {
      const uint32_t other = __shfl_up_sync(~0u, x, d);
      if (lane() >= d) x += other;
    }
    return x;
  }
  // Bit l of lane k becomes bit k of lane l.
  static DAYBREAK_DEVICE uint32_t transposed(uint32_t bits) {
    uint32_t low = 0x0000ffff;
#pragma unroll
    for (int d = kWarp / 2; d > 0; d /= 2, low ^= low << d) {
      const uint32_t other = __shfl_xor_sync(~0u, bits, d);
      bits = lane() & d ? (bits & ~low) | (other & ~low) >> d : (bits & low) | (other & low) << d;
    }
    return bits;
  }
  // Finds the bin between two at which the count from the highest down reaches `wanted`: the bin,
  // what lies above it and inside it. Waits for the counts, and for what was found.
  DAYBREAK_DEVICE void find_bin(uint32_t wanted, int first = 0, int last = kBins - 1) {
    __syncthreads();
    uint32_t count[kOwnBins], own = 0;
#pragma unroll
    for (int i = 0; i < kOwnBins; ++i) {
      const int bin = threadIdx.x * kOwnBins + i;
      count[i] = bin >= first && bin <= last ? w.bins[bin] : 0;
      own += count[i];
    }
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
        if (above < wanted && above + count[i] >= wanted)
          w.bin = threadIdx.x * kOwnBins + i, w.above = above, w.inside = count[i];
        above += count[i];
      }
    __syncthreads();
  }

  // Element j of those that this thread looks at: a warp has a run of them.
  static DAYBREAK_DEVICE int own(int j) {
    return int(threadIdx.x) / kWarp * (kOwn * kWarp) + j * kWarp + lane();
  }

  DAYBREAK_DEVICE void count_coarse(float one, float two) {
    const uint32_t halves = CoarseBins::halves(one, two);
    constexpr uint32_t kMask = (CoarseBins::kBins - 1) * 4;
    const auto add = [&](uint32_t offset) {
      atomicAdd(reinterpret_cast<uint32_t*>(reinterpret_cast<uint8_t*>(w.bins) + offset), 1u);
    };
    add(halves >> (CoarseBins::kCut - 2) & kMask);
    add(halves >> (CoarseBins::kCut + 14) & kMask);
  }
  // A key that a fourth more elements than wanted reach, by one of eight elements, taken from all
  // over the source; 0: unknown.
  template <class Source> DAYBREAK_DEVICE uint32_t sampled(const Source& from, uint32_t wanted) {
    const auto sample = [&](int s) { return from.score(own(s * 8 + lane() % 8)); };
#pragma unroll
    for (int s = 0; s < kOwn / 8; s += 2) count_coarse(sample(s), sample(s + 1));
    const uint32_t share = wanted / 8 + wanted / 32;
    find_bin(share, CoarseBins::kFirst, CoarseBins::kLast);
    return w.total < share ? 0 : CoarseBins::lowest(w.bin);
  }
  template <class Source> DAYBREAK_DEVICE Range coarse(const Source& from, uint32_t wanted) {
#pragma unroll(kElements < kSampled ? Source::kPairs : 1)
    for (int j = 0; j < kOwn; j += 2)
      count_coarse(from.score(own(j)),
                   j + 1 < kOwn ? from.score(own(j + 1)) : -__int_as_float(0x7f800000));
    find_bin(wanted, CoarseBins::kFirst, CoarseBins::kLast);
    if (w.total <= wanted) return {CoarseBins::lowest(0), kHighest, w.total, w.total};
    return {CoarseBins::lowest(w.bin), CoarseBins::lowest(w.bin + 1) - 1, wanted - w.above,
            w.inside};
  }
  static DAYBREAK_DEVICE bool settled(const Range& r) {
    return r.inside <= r.wanted || r.inside <= SelectionWork::kRivals || r.low == r.high;
  }
  // To one bin of 2^shift keys; all that lies beyond the last bin is in it.
  template <class Source> DAYBREAK_DEVICE void narrow(const Source& from, Range& r, int shift) {
#pragma unroll(Source::kKeys)
    for (int i = threadIdx.x; i < kOwn * kThreads; i += kThreads) {
      const uint32_t key = key_of(from.score(i));
      if (key >= r.low && key <= r.high)
        atomicAdd(&w.bins[least(int((key - r.low) >> shift), kBins - 1)], 1u);
    }
    find_bin(r.wanted);
    if (w.total <= r.wanted) {
      r.inside = r.wanted = w.total;
      return;
    }
    r.low += w.bin << shift;
    if (w.bin < kBins - 1) r.high = min(r.high, r.low + (1u << shift) - 1);
    r.wanted -= w.above;
    r.inside = w.inside;
  }

  template <class Source>
  DAYBREAK_DEVICE int finish(const Source& from, Range range, uint32_t wanted) {
#pragma unroll 1
    while (!settled(range)) {
      clear();
      __syncthreads();
      narrow(from, range, shift_of(range.low, range.high));
    }
    if (range.inside <= range.wanted) {
      mark(from, range.low, range.low);
    } else if (range.inside <= SelectionWork::kRivals) {
      mark(from, range.high + 1, range.low);
      rank(range.wanted);
    } else {
      mark_tied(from, range.low, last_of_tied(from, score_of(range.low), range.wanted));
    }
    return number(from, wanted);
  }
  // The highest of the `wanted` lowest positions among elements of one score. Rare: small loops.
  template <class Source>
  DAYBREAK_DEVICE int32_t last_of_tied(const Source& from, float score, uint32_t wanted) {
    uint32_t prefix =
        0;  // of the distance from the greatest position: 31 bits, 11, 10 and 10 a pass
#pragma unroll 1
    for (int shift = 20; shift >= 0; shift -= 10) {
      const int bits = shift == 20 ? 11 : 10;
      clear();
      __syncthreads();
#pragma unroll 1
      for (int i = threadIdx.x; i < kElements; i += kThreads) {
        if (from.score(i) != score) continue;
        const uint32_t distance = kFarthest - from.position(i);
        if (distance >> shift >> bits == prefix)
          atomicAdd(&w.bins[distance >> shift & ((1 << bits) - 1)], 1u);
      }
      find_bin(wanted);
      prefix = prefix << bits | w.bin;
      wanted -= w.above;
    }
    return int32_t(kFarthest - prefix);
  }

  // Of own elements: those that reach a score, and others that reach another.
  template <class Source>
  static DAYBREAK_DEVICE Marks compare(const Source& from, float sure, float rival) {
    constexpr int kSide = kOwn < 8 ? kOwn : 8;  // looked at together
    Marks marks{0, 0};
#pragma unroll 1
    for (int o = 0; o < kOwn; o += kSide) {
      uint32_t taken = 0, rivals = 0;
#pragma unroll
      for (int j = 0; j < kSide; ++j) {
        if (kOwn % kSide != 0 && o + j >= kOwn) continue;
        const float score = from.score(own(o + j));
        if (score >= sure) taken |= 1u << j;
        if (score >= rival) rivals |= 1u << j;
      }
      marks.taken |= taken << o, marks.rivals |= rivals << o;
    }
    marks.rivals &= ~marks.taken;
    return marks;
  }
  // Bits by own element become those of the elements.
  DAYBREAK_DEVICE void set_taken(uint32_t bits) {
    const uint32_t word = transposed(bits);
    if (lane() < kOwn) w.taken[int(threadIdx.x) / kWarp * kOwn + lane()] = word;
  }
  // Takes what has a key of `sure` or higher; those below that reach `rival` are rivals.
  template <class Source>
  DAYBREAK_DEVICE void mark(const Source& from, uint32_t sure, uint32_t rival) {
    const Marks marks = compare(from, score_of(sure), score_of(rival));
#pragma unroll 1
    for (uint32_t rivals = marks.rivals; rivals != 0; rivals &= rivals - 1) {
      const int i = own(__ffs(int(rivals)) - 1);
      const uint32_t at = atomicAdd(&w.rival_count, 1u);
      w.rivals[at] = uint64_t(key_of(from.score(i))) << 32 | uint32_t(kFarthest - from.position(i));
      w.numbers[at] = uint16_t(i);
    }
    __syncwarp();
    set_taken(marks.taken);
    __syncthreads();
  }
  // Takes what is better than one score, and of that score positions up to `last`.
  template <class Source>
  DAYBREAK_DEVICE void mark_tied(const Source& from, uint32_t tied, int32_t last) {
    const float score = score_of(tied);
    uint32_t taken = 0;
#pragma unroll 1
    for (int j = 0; j < kOwn; ++j) {
      const float x = from.score(own(j));
      if (x > score || (x == score && from.position(own(j)) <= last)) taken |= 1u << j;
    }
    set_taken(taken);
    __syncthreads();
  }
  // Takes the best `wanted` of the rivals. A warp compares 32 of them with some of all.
  DAYBREAK_DEVICE void rank(uint32_t wanted) {
    const int count = int(w.rival_count), warp = int(threadIdx.x) / kWarp;
    const int halvings = count <= 32 ? 0 : 27 - __clz(count - 1);  // groups of 32: 1, 2, 4 or 8
    const int own = (warp & ((1 << halvings) - 1)) * kWarp + lane();
    const uint64_t rival = own < count ? w.rivals[own] : ~0ull;
    uint32_t better = 0;
#pragma unroll 2
    for (int i = warp >> halvings; i < count; i += kWarps >> halvings)
      better += w.rivals[i] > rival;
    if (better != 0) atomicAdd(&w.better[own], better);
    __syncthreads();
    if (int(threadIdx.x) < count && w.better[threadIdx.x] < wanted) {
      const uint32_t number = w.numbers[threadIdx.x];
      atomicOr(&w.taken[number / 32], 1u << number % 32);
    }
    __syncthreads();
  }
  // From bits to numbers, `limit` of them; how many bits there are. Leaves all clear.
  template <class Source> DAYBREAK_DEVICE int number(const Source& from, int limit) {
    constexpr int kBits = kOwn <= 1 ? 1 : 1 << (32 - __builtin_clz(kOwn - 1));
    constexpr uint32_t kMask = kBits == 32 ? ~0u : (1u << kBits % 32) - 1;
    const int first = int(threadIdx.x) * kBits;
    uint32_t bits = 0;
    if (first < kOwn * kThreads) bits = w.taken[first / 32] >> first % 32 & kMask;
    const uint32_t own = __popc(bits), sum = sum_of_lower(own);
    uint16_t named[kBits];
    if constexpr (Source::kNamed) {
#pragma unroll
      for (int i = 0; i < kBits; ++i) named[i] = bits >> i & 1 ? from.number(first + i) : 0;
    }
    const Sums warps = over_warps(__shfl_sync(~0u, sum, kWarp - 1));
    clear();
    int at = int(warps.below + sum - own);
    if constexpr (Source::kNamed) {
#pragma unroll
      for (int i = 0; i < kBits; ++i)
        if (bits >> i & 1 && at < limit) w.order[at++] = named[i];
    } else {
#pragma unroll 1
      for (; bits != 0 && at < limit; bits &= bits - 1, ++at)
        w.order[at] = uint16_t(first + __ffs(int(bits)) - 1);
    }
    __syncthreads();
    return int(warps.all);
  }
};

}  // namespace daybreak::kernels::hopper
