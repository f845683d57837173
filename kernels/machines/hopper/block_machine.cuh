// Machine Hopper for kernels of rows and of selection: every operation is executed by the whole
// block over tiles in shared memory. An operation first waits for the one before it.
#pragma once
#include "isa/instructions/map.hpp"
#include "kernels/machines/hopper/block_copies.cuh"
#include "kernels/machines/hopper/block_select.cuh"
#include "kernels/machines/hopper/block_tile.cuh"
#include "kernels/machines/hopper/tensor.cuh"

namespace daybreak::kernels::hopper {

template <int kThreadCount> class BlockMachine {
 public:
  static constexpr int kThreads = kThreadCount, kWarps = kThreads / kWarp, kConsumers = 1;
  template <class T, int R, int C> using Tile = BlockTile<T, R, C>;
  template <class T, int R, int C> using Local = BlockLocal<BlockMachine, T, R, C>;
  template <int R> using Rows = BlockTile<float, R, 1>;
  template <int K> using List = BlockTile<Ranked, 1, K>;
  using Tensor = hopper::Tensor;
  using Copies = BlockCopies<kThreads>;

  Context context;
  SelectionWork* work = nullptr;
  uint8_t* scratch = nullptr;  // where the next local begins
  int room = 0;                // bytes left

  DAYBREAK_DEVICE uint8_t* claim(int bytes) {
    room -= bytes;
    if (room < 0) {
      raise(context, kScratchFull);
      __trap();
    }
    uint8_t* at = scratch;
    scratch += bytes;
    return at;
  }
  DAYBREAK_DEVICE void give_back(int bytes) { scratch -= bytes, room += bytes; }

  DAYBREAK_DEVICE int32_t read(const Tensor& t, int64_t row, int64_t col) {
    return __ldg(t.at<int32_t>(row, col));
  }
  DAYBREAK_DEVICE void settle() {}

  // ---- movement ---------------------------------------------------------------------------------

  // Tiles of lifetimes are filled in the background where addresses allow; the pipeline waits.
  template <class T, int R, int C>
  DAYBREAK_DEVICE void load(BlockTile<T, R, C>& to, const Tensor& from, int64_t row, int64_t col) {
    __syncthreads();
    Copies::in(to, from, col, [&](int r) { return row + r; });
  }
  template <class T, int R, int C>
  DAYBREAK_DEVICE void load(const Local<T, R, C>& to, const Tensor& from, int64_t row,
                            int64_t col) {
    flat<R, C>([&](int r, int c) {
      const bool inside = row + r < from.rows && col + c < from.cols;
      *element(to, r, c) = inside ? *from.at<T>(row + r, col + c) : T{};
    });
  }
  template <class X>
  DAYBREAK_DEVICE void store(const Tensor& to, int64_t row, int64_t col, const X& from) {
    __syncthreads();
    Copies::out(to, col, from, [&](int r) { return row + r < to.rows ? row + r : -1; });
  }
  template <class T, int R, int C>
  DAYBREAK_DEVICE void gather(BlockTile<T, R, C>& to, const Tensor& from, int64_t col,
                              const Tensor& index, int64_t row, int64_t first) {
    __syncthreads();
    Copies::in(to, from, col,
               [&](int r) { return checked_row(from, __ldg(index.at<int32_t>(row, first + r))); });
  }
  template <class X>
  DAYBREAK_DEVICE void scatter(const Tensor& to, int64_t col, const X& from, const Tensor& slots,
                               int64_t row, int64_t first) {
    __syncthreads();
    Copies::out(to, col, from, [&](int r) {
      const int slot = __ldg(slots.at<int32_t>(row, first + r));
      return slot < 0 ? -1 : checked_row(to, slot);
    });
  }
  DAYBREAK_DEVICE void translate(const Tensor& to, int64_t row, const Tensor& stamp,
                                 const Tensor& positions, const Tensor& requests,
                                 const Tensor& blocks, int64_t request, int64_t count,
                                 int64_t page_tokens) {
    const int first = __ldg(requests.at<int32_t>(request, 0));
    const int entries = __ldg(requests.at<int32_t>(request, 1));
    for (int i = threadIdx.x; i < count; i += kThreads) {
      const int p = *positions.at<int32_t>(row, i), block = p / int(page_tokens);
      int physical = -1;
      if (p >= 0 && block < entries && first + block < blocks.cols) {
        const int page = __ldg(blocks.at<int32_t>(0, first + block));
        const int64_t named = page * page_tokens + p % int(page_tokens);
        if (page >= 0 && named <= 0x7fffffff) physical = int(named);
      }
      if (p >= 0 && physical < 0) raise(context, kUnmappedPage);
      *to.at<int32_t>(row, i) = physical;
    }
    if (threadIdx.x == 0) {
      *stamp.at<int32_t>(row, 0) = __ldg(requests.at<int32_t>(request, 2));
      *stamp.at<int32_t>(row, 1) = int(request);
    }
  }

  // ---- rows -------------------------------------------------------------------------------------

  template <class V, class O, class X>
  DAYBREAK_DEVICE void raise_rows(V& max, const O& old, const X& x, float slack) {
    static_assert(X::kCols == 1);
    flat<X::kRows, 1>([&](int r, int) {
      const float top = value_of(x, r, 0), before = value_of(old, r, 0);
      assign(element(max, r, 0), top > before + slack ? top : before);
    });
  }
  template <class Y, class X, class V>
  DAYBREAK_DEVICE void exp2_rows(Y& y, const X& x, const V& max, float scale) {
    flat<X::kRows, X::kCols>([&](int r, int c) {
      assign(element(y, r, c), exp2f((value_of(x, r, c) - value_of(max, r, 0)) * scale));
    });
  }
  template <class X, class V> DAYBREAK_DEVICE void scale_rows(X& x, const V& factor) {
    flat<X::kRows, X::kCols>([&](int r, int c) {
      assign(element(x, r, c), value_of(x, r, c) * value_of(factor, r, 0));
    });
  }
  template <class X, class V> DAYBREAK_DEVICE void divide_rows(X& x, const V& divisor) {
    flat<X::kRows, X::kCols>([&](int r, int c) {
      const float d = value_of(divisor, r, 0);
      assign(element(x, r, c), d == 0.f ? 0.f : value_of(x, r, c) / d);
    });
  }
  template <class X, class F, class A>
  DAYBREAK_DEVICE void scale_add(X& sum, const F& factor, const A& addend) {
    flat<X::kRows, X::kCols>([&](int r, int c) {
      const float scaled = __fmul_rn(value_of(sum, r, c), value_of(factor, r, c));
      assign(element(sum, r, c), scaled + value_of(addend, r, c));
    });
  }
  template <class V, class A, class B>
  DAYBREAK_DEVICE void log2_rows(V& lse, const A& max, const B& sum, float scale) {
    flat<V::kRows, 1>([&](int r, int) {
      const float total = value_of(sum, r, 0);
      const float natural = 0.693147181f * fmaf(value_of(max, r, 0), scale, log2f(total));
      assign(element(lse, r, 0), total == 0.f ? __int_as_float(0x7f800000) : natural);
    });
  }
  template <class Y, class X, class W>
  DAYBREAK_DEVICE void norm_rows(Y&& y, const X& x, const W& weight, float epsilon) {
    by_row<X>([&](int r) {
      const float square = row_sum<X::kCols>([&](int c) {
        const float v = value_of(x, r, c);
        return v * v;
      });
      const float factor = rsqrtf(square / X::kCols + epsilon);
      for (int c = lane(); c < X::kCols; c += kWarp)
        assign(element(y, r, c), value_of(x, r, c) * factor * value_of(weight, 0, c));
    });
  }
  template <class Y, class X, class W, class B>
  DAYBREAK_DEVICE void layer_norm_rows(Y&& y, const X& x, const W& weight, const B& bias,
                                       float epsilon) {
    by_row<X>([&](int r) {
      const float mean = row_sum<X::kCols>([&](int c) { return value_of(x, r, c); }) / X::kCols;
      const float square = row_sum<X::kCols>([&](int c) {
        const float v = value_of(x, r, c) - mean;
        return v * v;
      });
      const float factor = rsqrtf(square / X::kCols + epsilon);
      for (int c = lane(); c < X::kCols; c += kWarp)
        assign(element(y, r, c),
               (value_of(x, r, c) - mean) * factor * value_of(weight, 0, c) + value_of(bias, 0, c));
    });
  }

  // ---- elementwise ------------------------------------------------------------------------------

  template <class X> DAYBREAK_DEVICE void fill(X& x, float value) {
    flat<X::kRows, X::kCols>([&](int r, int c) { assign(element(x, r, c), value); });
  }
  template <class Y, class A, class B> DAYBREAK_DEVICE void add(Y& y, const A& a, const B& b) {
    flat<Y::kRows, Y::kCols>(
        [&](int r, int c) { assign(element(y, r, c), value_of(a, r, c) + value_of(b, r, c)); });
  }
  template <class Y, class A, class B> DAYBREAK_DEVICE void mul(Y& y, const A& a, const B& b) {
    flat<Y::kRows, Y::kCols>(
        [&](int r, int c) { assign(element(y, r, c), value_of(a, r, c) * value_of(b, r, c)); });
  }
  template <class Y, class X>
  DAYBREAK_DEVICE void act(Y& y, const X& x, isa::Function function, float factor) {
    flat<Y::kRows, Y::kCols>([&](int r, int c) {
      const float v = value_of(x, r, c) * factor;
      assign(element(y, r, c), function == isa::Function::relu ? fmaxf(v, 0.f) : v);
    });
  }
  template <class Y, class X> DAYBREAK_DEVICE void cast(Y&& y, const X& x) {
    using To = std::remove_reference_t<Y>;
    flat<To::kRows, To::kCols>([&](int r, int c) { assign(element(y, r, c), value_of(x, r, c)); });
  }
  template <class Y, class X, class A>
  DAYBREAK_DEVICE void rope(Y&& y, const X& x, const A& angles, bool interleaved) {
    constexpr int kHalf = X::kCols / 2;
    flat<X::kRows, kHalf>([&](int r, int i) {
      const int one = interleaved ? 2 * i : i, two = interleaved ? 2 * i + 1 : i + kHalf;
      const int turn = A::kRows == 1 ? 0 : r;
      const float cosine = value_of(angles, turn, i), sine = value_of(angles, turn, i + kHalf);
      const float a = value_of(x, r, one), b = value_of(x, r, two);
      assign(element(y, r, one), __fmul_rn(a, cosine) - __fmul_rn(b, sine));
      assign(element(y, r, two), __fmul_rn(b, cosine) + __fmul_rn(a, sine));
    });
  }
  // Four columns a lane: distances 1 and 2 inside it, the others between lanes.
  template <class Y, class X> DAYBREAK_DEVICE void hadamard(Y& y, const X& x) {
    static_assert(X::kCols == 128);
    by_row<X>([&](int r) {
      float v[4];
      for (int i = 0; i < 4; ++i) v[i] = value_of(x, r, lane() * 4 + i);
      const float a = v[0] + v[1], b = v[0] - v[1], c = v[2] + v[3], d = v[2] - v[3];
      v[0] = a + c, v[1] = b + d, v[2] = a - c, v[3] = b - d;
      for (int distance = 1; distance < kWarp; distance *= 2)
        for (int i = 0; i < 4; ++i) {
          const float other = __shfl_xor_sync(~0u, v[i], distance);
          v[i] = lane() & distance ? other - v[i] : v[i] + other;
        }
      for (int i = 0; i < 4; ++i)
        assign(element(y, r, lane() * 4 + i), v[i] * 0.08838834764831845f);
    });
  }
  // One warp a group of 128.
  template <class Y, class S, class X>
  DAYBREAK_DEVICE void quantise(Y&& codes, S&& scales, const X& x, int, bool power_of_two) {
    constexpr int kGroups = X::kCols / 128;
    __syncthreads();
#pragma unroll 1
    for (int g = threadIdx.x / kWarp; g < X::kRows * kGroups; g += kWarps) {
      const int r = g / kGroups, first = g % kGroups * 128;
      float largest = 0;
      bool nan = false;
      for (int c = lane(); c < 128; c += kWarp) {
        const float v = fabsf(value_of(x, r, first + c));
        largest = fmaxf(largest, v), nan |= v != v;
      }
      for (int d = 16; d > 0; d /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, d));
      const float scale = scale_of(largest, __any_sync(~0u, nan), power_of_two);
      for (int c = lane(); c < 128; c += kWarp)
        assign(element(codes, r, first + c), value_of(x, r, first + c) / scale);
      if (lane() == 0) assign(element(scales, r, g % kGroups), scale);
    }
  }

  // ---- selection --------------------------------------------------------------------------------

  template <class L, class X>
  DAYBREAK_DEVICE void topk_block(L& list, const X& scores, int64_t first, int64_t count) {
    const auto from = block_of(scores, first, count);
    const int taken = count <= 0 ? 0 : select<kElements<X>, L>(from);
    if (count <= 0) __syncthreads();
    for (int i = threadIdx.x; i < L::kCols; i += kThreads)
      *element(list, 0, i) = i < taken ? from.record(work->order[i]) : nothing();
  }
  // The list may be one of those merged; those after the first stand one after another.
  template <class L, class A, class B, class... More>
  DAYBREAK_DEVICE void merge_topk(L& list, const A& a, const B& b, const More&... more) {
    constexpr int kSize = L::kCols, kCount = (2 + sizeof...(More)) * kSize;
    const Ranked* next = element(b, 0, 0);
    if (((element(more, 0, 0) != (next += kSize)) || ...)) __trap();
    const Records<kSize> all{element(a, 0, 0), element(b, 0, 0)};
    __syncthreads();
    BlockSelect<kThreads, kCount> lists{*work};
    const Keys keys = lists.extent(all);
    const int taken =
        keys.low == 0 ? lists.run(all, kSize)
                      : lists.among(all, keys, lists.shift_of(keys.low, keys.high), kCount, kSize);
    keep(list, taken, [&](int number) { return all.record(number); });
  }
  // What does not reach the worst of a full list is left out at once.
  template <class L, class X>
  DAYBREAK_DEVICE void topk_more(L& list, L&, const X& scores, int64_t first, int64_t count) {
    constexpr int kFound = SelectionWork::kCandidates;
    const auto from = block_of(scores, first, count);
    __syncthreads();
    BlockSelect<kThreads, kElements<X>> block{*work};
    const Ranked* records = element(list, 0, 0);
    const uint32_t low =
        BlockSelect<kThreads, L::kCols>{*work}.extent(Records<L::kCols>{records, records}).low;
    int found = low == 0 ? kFound + 1 : block.gather(from, low);
    if (found > kFound) found = block.run(from, L::kCols);
    if (records[0].position < 0)
      return keep(list, found, [&](int number) { return from.record(number); });
    if (found == 0) return;
    const Candidates<L::kCols, Block<kElements<X>, kThreads>> all{records, from, work->order,
                                                                  found};
    BlockSelect<kThreads, L::kCols + kFound> both{*work};
    const int taken = both.among(all, {low == 0 ? CoarseBins::kLowest : low, both.kHighest},
                                 both.kFine, L::kCols + found, L::kCols);
    keep(list, taken, [&](int number) {
      return number < L::kCols ? records[number] : from.record(number - L::kCols);
    });
  }
  // Lists of merged ones are in order already, with what is empty last.
  template <class P, class N, class L>
  DAYBREAK_DEVICE void extract(P& positions, N& count, const L& list) {
    constexpr int kSize = L::kCols;
    constexpr int32_t kNone = 0x7fffffff;
    __syncthreads();
    bool ordered = true;
#pragma unroll 1
    for (int i = threadIdx.x; i < kSize; i += kThreads) {
      const int p = element(list, 0, i)->position;
      const int next = i + 1 < kSize ? element(list, 0, i + 1)->position : -1;
      ordered &= next < 0 || (p >= 0 && p < next);
      *element(positions, 0, i) = p;
      if (p >= 0 && next < 0) *element(count, 0, 0) = i + 1;
      if (p < 0 && i == 0) *element(count, 0, 0) = 0;
    }
    if (__syncthreads_and(ordered)) return;
    int valid = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < kSize; i += kThreads) {
      const int p = *element(positions, 0, i);
      valid += __syncthreads_count(p >= 0);
      if (p < 0) *element(positions, 0, i) = kNone;
    }
    sort_words<kSize>(element(positions, 0, 0));
#pragma unroll 1
    for (int i = threadIdx.x; i < kSize; i += kThreads)
      if (*element(positions, 0, i) == kNone) *element(positions, 0, i) = -1;
    if (threadIdx.x == 0) *element(count, 0, 0) = valid;
  }
  template <class L>
  DAYBREAK_DEVICE void load_list(L& list, const Tensor& from, int64_t row, int64_t col) {
    load(list, from, row, col);
  }
  template <class L>
  DAYBREAK_DEVICE void store_list(const Tensor& to, int64_t row, int64_t col, const L& list) {
    store(to, row, col, list);
  }

 private:
  static DAYBREAK_DEVICE Ranked nothing() { return {-__int_as_float(0x7f800000), -1}; }

  template <class X> static constexpr int kElements = X::kRows * X::kCols;

  // The scores of a tile; those from `count` on become none.
  template <class X>
  static DAYBREAK_DEVICE Block<kElements<X>, kThreads> block_of(const X& scores, int64_t first,
                                                                int64_t count) {
    if (count < kElements<X>) {
      __syncthreads();
      for (int i = int(count) + int(threadIdx.x); i < kElements<X>; i += kThreads)
        *element(scores, 0, i) = -__int_as_float(0x7f800000);
    }
    return {element(scores, 0, 0), int(first)};
  }
  // Records of the elements taken become a list, which they may come from.
  template <class L, class RecordOf>
  DAYBREAK_DEVICE void keep(L& list, int taken, const RecordOf& record_of) {
    constexpr int kOwn = L::kCols / kThreads;
    Ranked held[kOwn];
#pragma unroll
    for (int j = 0; j < kOwn; ++j) {
      const int i = j * kThreads + int(threadIdx.x);
      held[j] = i < taken ? record_of(work->order[i]) : nothing();
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < kOwn; ++j) *element(list, 0, j * kThreads + int(threadIdx.x)) = held[j];
  }
  // The best of the elements, as many as a list L holds: their numbers are in work->order.
  template <int kCount, class L, class Source> DAYBREAK_DEVICE int select(const Source& from) {
    static_assert(L::kCols <= SelectionWork::kSize);
    __syncthreads();
    return BlockSelect<kThreads, kCount>{*work}.run(from, L::kCols);
  }
  // Bitonic, ascending.
  template <int kSize> static DAYBREAK_DEVICE void sort_words(int32_t* words) {
#pragma unroll 1
    for (int span = 2; span <= kSize; span *= 2)
#pragma unroll 1
      for (int distance = span / 2; distance > 0; distance /= 2) {
        __syncthreads();
#pragma unroll 1
        for (int i = threadIdx.x; i < kSize / 2; i += kThreads) {
          const int low = i / distance * distance * 2 + i % distance, high = low + distance;
          const int32_t a = words[low], b = words[high];
          if ((a > b) == ((low & span) == 0)) words[low] = b, words[high] = a;
        }
      }
    __syncthreads();
  }

  static DAYBREAK_DEVICE float scale_of(float largest, bool nan, bool power_of_two) {
    if (nan) return __int_as_float(0x7fc00000);
    const float scale = fmaxf(largest, 1e-4f) / 448.f;
    if (!power_of_two) return scale;
    const uint32_t bits = __float_as_uint(scale);
    const uint32_t exponent = (bits >> 23) + ((bits & 0x7fffff) != 0);  // next power of two
    return __uint_as_float((exponent < 254 ? exponent : 254) << 23);
  }
  template <int R, int C, class F> static DAYBREAK_DEVICE void flat(F f) {
    __syncthreads();
    if constexpr (R * C <= 4 * kThreads) {
#pragma unroll
      for (int i = 0; i < R * C; i += kThreads)
        if (const int at = i + int(threadIdx.x); R * C % kThreads == 0 || at < R * C)
          f(at / C, at % C);
    } else {
#pragma unroll 4
      for (int i = threadIdx.x; i < R * C; i += kThreads) f(i / C, i % C);
    }
  }
  template <class X, class F> static DAYBREAK_DEVICE void by_row(F f) {
    __syncthreads();
#pragma unroll 1
    for (int r = threadIdx.x / kWarp; r < X::kRows; r += kWarps) f(r);
  }
  template <int C, class F> static DAYBREAK_DEVICE float row_sum(F f) {
    float sum = 0;
    for (int c = lane(); c < C; c += kWarp) sum += f(c);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    return sum;
  }
  DAYBREAK_DEVICE int64_t checked_row(const Tensor& t, int index) {
    if (index >= 0 && index < t.rows) return index;
    if (index != -1) raise(context, kOutsideRow);
    return -1;
  }
};

}  // namespace daybreak::kernels::hopper
