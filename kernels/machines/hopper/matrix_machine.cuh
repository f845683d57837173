// Machine Hopper for kernels of the matrix unit: every operation is code of one warpgroup.
//   Tile<Bf16, R, C>    shared memory, panels of 64 columns in the 128-byte swizzle of wgmma
//   Tile<E4m3, R, 128>  shared memory, one panel
//   Tile<float, R, 1>   shared memory, one value a row
//   Tile<uint8_t, R, C> raw records: registers of the DMA role, on their way to another tile
//   Acc, Rows, Local    registers: a thread holds two rows of 64 and two columns of every eight
// Matrix operations are asynchronous; the pipeline settles them between bodies. An operation that
// reads a ring slot waits for what it names, and one that fills a slot waits for it to be vacant
// after it has read its index entries, so partial arrival and index prefetch cost a kernel no word.
#pragma once
#include "isa/instructions/map.hpp"
#include "kernels/machines/hopper/fragment.cuh"
#include "kernels/machines/hopper/records.cuh"
#include "kernels/machines/hopper/tensor.cuh"
#include "kernels/machines/hopper/wgmma.cuh"
#include "kernels/tile/views.hpp"

namespace daybreak::kernels::hopper {

// Entries of an index table for the rows of a gather, kRowStep apart for a thread. Those of the next
// gather are on their way while this one waits for its slot.
inline constexpr int kRowStep = kWarpgroup / 8;
class EntryStream {
 public:
  // `more`: the entries that follow are of the same table row.
  template <int kCopies>
  DAYBREAK_DEVICE void read(int (&rows)[kCopies], const int32_t* entries, bool more) {
    static_assert(kCopies == kHeld);
    const int32_t* own = entries + thread_of_group() / 8;
#pragma unroll
    for (int i = 0; i < kHeld; ++i)
      rows[i] = entries == next_ ? held_[i] : __ldg(own + i * kRowStep);
    next_ = more ? entries + kHeld * kRowStep : nullptr;
    if (more)
#pragma unroll
      for (int i = 0; i < kHeld; ++i) held_[i] = __ldg(own + (kHeld + i) * kRowStep);
  }

 private:
  static constexpr int kHeld = 4;
  const int32_t* next_ = nullptr;
  int held_[kHeld] = {};
};

// kConsumerCount consumers, each a team of kGroupCount warpgroups that share the rows of its
// accumulators. kRaw: the DMA role also converts raw records, so that a slot is whole at once.
template <int kConsumerCount, int kGroupCount, bool kRaw> class MatrixMachine {
 public:
  static constexpr int kConsumers = kConsumerCount, kGroups = kGroupCount;
  static constexpr bool kConverts = kRaw;
  template <class T, int R, int C> using Tile = SharedTile<T, R, C>;
  template <int R, int C> using Acc = Fragment<float, R, C, kGroups>;
  template <int R> using Rows = Fragment<float, R, 1, kGroups>;
  template <class T, int R, int C> using Local = Fragment<T, R, C, kGroups>;
  using Tensor = hopper::Tensor;

  // What the pipeline tells the machine of the tiles being filled or awaited.
  Context context;
  const void* slot = nullptr;  // where they start
  Barrier* arrived = nullptr;  // one a panel; only the first where records are converted
  Barrier* vacant = nullptr;   // of the tiles being filled
  uint32_t awaited = 0;        // panels whose arrival a reader waits for
  uint32_t parity = 0;         // of `arrived` for a reader, of `vacant` for the DMA role
  bool fresh = false;          // the first gather of a task checks its index table's stamp
  int group = 0;               // of the team, this warpgroup
  RecordStream records;
  EntryStream ahead;

  DAYBREAK_DEVICE int32_t read(const Tensor& t, int64_t row, int64_t col) {
    return __ldg(reinterpret_cast<const int32_t*>(t.line(row)) + col);
  }

  // ---- DMA role, cp.async -----------------------------------------------------------------------

  template <int R, int C>
  DAYBREAK_DEVICE void gather(SharedTile<Bf16, R, C>& to, const Tensor& from, int64_t,
                              const Tensor& index, int64_t row, int64_t first, const Tensor& stamp,
                              const Tensor& requests) {
    const int32_t* entries = reinterpret_cast<const int32_t*>(index.line(row)) + first;
    check_stamp(stamp, row, requests);
    copy(to, from,
         [&](int(&rows)[R / kRowStep]) { ahead.read(rows, entries, first + 2 * R <= index.cols); });
  }
  template <int R, int C>
  DAYBREAK_DEVICE void load(SharedTile<Bf16, R, C>& to, const Tensor& from, int64_t row, int64_t) {
    copy(to, from, [&](int(&rows)[R / kRowStep]) {
      for (int i = 0; i < R / kRowStep; ++i) {
        const int64_t r = row + thread_of_group() / 8 + i * kRowStep;
        rows[i] = r < from.rows ? int(r) : -1;
      }
    });
  }

  // ---- DMA role, records converted on the way ---------------------------------------------------

  template <int R, int C>
  DAYBREAK_DEVICE void gather(SharedTile<uint8_t, R, C>&, const Tensor& from, int64_t,
                              const Tensor& index, int64_t row, int64_t first, const Tensor& stamp,
                              const Tensor& requests) {
    static_assert(R == RecordStream::kRows && C == RecordStream::kBytes);
    const int32_t* entries = reinterpret_cast<const int32_t*>(index.line(row)) + first;
    check_stamp(stamp, row, requests);
    int rows[R / kRowStep];
    ahead.read(rows, entries, first + 2 * R <= index.cols);
    if (!records.name(from.data, int(from.rows), entries, rows)) raise(context, kOutsideRow);
  }
  // Codes (rows, 512) of the records named last but one, their scales, to BF16 columns.
  template <class Base, class Raw, int R, int C, int kScales>
  DAYBREAK_DEVICE void dequantise(View<Base, Bf16, R, C> to, View<Raw, E4m3, R, C>,
                                  View<Raw, float, R, kScales>, int) {
    records.convert(to.tile, [&] { vacant->wait(parity); });
  }
  template <class Base, class Raw, int R, int C>
  DAYBREAK_DEVICE void cast(View<Base, Bf16, R, C> to, View<Raw, Bf16, R, C>) {
    records.copy_tail(to.tile, to.byte);
  }

  // ---- DMA role, bulk copies by the lanes of one warp -------------------------------------------

  template <class X>
    requires(std::is_same_v<ElementOf<X>, E4m3>)
  DAYBREAK_DEVICE void gather_pages(X&& to, const Tensor& from, int64_t, const Tensor& index,
                                    int64_t row, int64_t first) {
    uint8_t* bytes = base_of(to);
    if (lane() >= kRowsOf<X> / 64) return;
    const int page = page_of(from, index, row, first + lane());
    if (page < 0) return;
    arrived->expect(8192);
    copy_box(bytes + lane() * 8192, from.map, 0, 0, page, *arrived);
  }
  template <class X>
    requires(std::is_same_v<ElementOf<X>, float>)
  DAYBREAK_DEVICE void gather_pages(X&& to, const Tensor& from, int64_t, const Tensor& index,
                                    int64_t row, int64_t first) {
    uint8_t* bytes = base_of(to);
    if (lane() >= kRowsOf<X> / 64) return;
    const int page = page_of(from, index, row, first + lane());
    if (page < 0) return;
    arrived->expect(256);
    copy_bulk(bytes + lane() * 256, from.data + page * from.page_pitch, 256, *arrived);
  }
  template <int R, int C>
  DAYBREAK_DEVICE void load(SharedTile<E4m3, R, C>& to, const Tensor& from, int64_t row, int64_t) {
    if (lane() >= R / 64) return;
    arrived->expect(8192);
    copy_box(to.bytes + lane() * 8192, from.map, 0, int(row) + lane() * 64, 0, *arrived);
  }
  template <int R>
  DAYBREAK_DEVICE void load(SharedTile<float, R, 1>& to, const Tensor& from, int64_t row, int64_t) {
    const int64_t inside = from.rows - row;  // what lies outside no one reads
    if (lane() > 0 || inside <= 0) return;
    const uint32_t bytes = (inside < R ? int(inside) : R) * 4;
    arrived->expect(bytes);
    copy_bulk(to.value, from.line(row), bytes, *arrived);
  }

  // ---- matrix role ------------------------------------------------------------------------------

  template <class A, class B, int K>
  DAYBREAK_DEVICE void mma_abt(Acc<64, 64>& d, View<A, Bf16, 64, K> a, View<B, Bf16, 64, K> b,
                               bool add) {
    static_assert(K % 64 == 0);
    const uint64_t pa = operand(a.tile.bytes + a.byte / 128 * A::kPanelBytes);
    const uint64_t pb = operand(b.tile.bytes + b.byte / 128 * B::kPanelBytes);
    if constexpr (kRaw) {
      arrived->wait(parity);
    } else {
      barriers_of(b.tile)[b.byte / 128 + K / 64 - 1].wait(parity);  // panels land in order
      show_to_matrix_unit();  // once: this fence is a full memory barrier of the block
    }
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < K / 16; ++k) {
      const int at = (k / 4 * A::kPanelBytes + k % 4 * 32) / 16;
      wgmma_bf16_abt(d.value, pa + at, pb + at, add || k > 0);
    }
    wgmma_commit();
  }
  template <int R, int N>
  DAYBREAK_DEVICE void mma_abt(Fragment<float, R, N, kGroups>& d, SharedTile<E4m3, R, 128>& a,
                               SharedTile<E4m3, N, 128>& b, bool add) {
    static_assert(R == 64 * kGroups, "a warpgroup has 64 rows");
    arrived->wait(parity);
    const uint64_t pa = operand(a.bytes + group * 8192), pb = operand(b.bytes);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; ++k) wgmma_e4m3_abt(d.value, pa + k * 2, pb + k * 2, add || k > 0);
    wgmma_commit();
  }
  template <class A, class B>
  DAYBREAK_DEVICE void mma_ab(Acc<64, 256>& d, A& a, View<B, Bf16, 64, 256> b, bool add) {
    const uint64_t pa = operand(a.bytes);
    const uint64_t pb = operand(b.tile.bytes + b.byte / 128 * B::kPanelBytes, B::kPanelBytes);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; ++k)
      wgmma_bf16_ab(d.value, pa + k * 32 / 16, pb + k * 2048 / 16, add || k > 0);
    wgmma_commit();
  }
  DAYBREAK_DEVICE void settle() { wgmma_settle(); }

  // ---- rows of accumulators ---------------------------------------------------------------------

  template <class X> DAYBREAK_DEVICE void fill(X& x, float value) {
    each(x, [&](float& v, int, int) { v = value; });
  }
  template <int R, int C>
  DAYBREAK_DEVICE void keep_columns(Fragment<float, R, C, kGroups>& x, int64_t count, float value) {
    if (count >= C) return;
    const int mine = int(count) - lane() % 4 * 2;
    each(x, [&](float& v, int, int col) { v = col < mine ? v : value; });
  }
  template <int R, int C>
  DAYBREAK_DEVICE void raise_rows(Rows<R>& max, const Rows<R>& old, Acc<R, C>& x, float slack) {
    Rows<R> top;
    reduce_rows(
        top, x, [](float a, float b) { return fmaxf(a, b); }, quad_max);
    each(max, top, old, [&](float& d, float t, float o) { d = t > o + slack ? t : o; });
  }
  template <int R, int C> DAYBREAK_DEVICE void sum_rows(Rows<R>& sum, const Acc<R, C>& x) {
    reduce_rows(
        sum, x, [](float a, float b) { return a + b; }, quad_sum);
  }
  // y = 2^(scale * (x - max)); y and x the same accumulator.
  template <int R, int C>
  DAYBREAK_DEVICE void exp2_rows(Acc<R, C>& y, const Acc<R, C>& x, const Rows<R>& max, float scale)
    requires(C > 1)
  {
    float shift[Rows<R>::kValues];
    for (int i = 0; i < Rows<R>::kValues; ++i) shift[i] = -max.value[i] * scale;
    each(y, [&](float& v, int r, int) { v = exp2_fast(fmaf(v, scale, shift[r])); });
  }
  template <int R>
  DAYBREAK_DEVICE void exp2_rows(Rows<R>& y, const Rows<R>& x, const Rows<R>& max, float scale) {
    each(y, x, max, [&](float& d, float a, float b) { d = exp2_fast((a - b) * scale); });
  }
  template <int R, int C> DAYBREAK_DEVICE void scale_rows(Acc<R, C>& x, const Rows<R>& factor) {
    bool ones = true;
    for (int i = 0; i < Rows<R>::kValues; ++i) ones &= factor.value[i] == 1.f;
    if (__all_sync(~0u, ones)) return;
    each(x, [&](float& v, int r, int) { v *= factor.value[r]; });
  }
  template <int R, int C> DAYBREAK_DEVICE void divide_rows(Acc<R, C>& x, const Rows<R>& divisor) {
    float inverse[Rows<R>::kValues];
    for (int i = 0; i < Rows<R>::kValues; ++i)
      inverse[i] = divisor.value[i] == 0.f ? 0.f : 1.f / divisor.value[i];
    each(x, [&](float& v, int r, int) { v *= inverse[r]; });
  }
  template <int R>
  DAYBREAK_DEVICE void scale_add(Rows<R>& sum, const Rows<R>& factor, const Rows<R>& addend) {
    each(sum, factor, addend, [](float& d, float f, float a) { d = d * f + a; });
  }
  template <int R>
  DAYBREAK_DEVICE void log2_rows(Rows<R>& lse, const Rows<R>& max, const Rows<R>& sum,
                                 float scale) {
    each(lse, max, sum, [&](float& d, float m, float s) {
      const float natural = 0.693147181f * fmaf(m, scale, log2f(s));
      d = s == 0.f ? __int_as_float(0x7f800000) : natural;
    });
  }
  template <class X, int kHeads>
  DAYBREAK_DEVICE void scale_columns(X& x,
                                     View<SharedTile<float, kHeads, 1>, float, X::kCols, 1> f) {
    const auto* own = reinterpret_cast<const float2*>(f.tile.value + f.row) + lane() % 4;
#pragma unroll
    for (int i = 0; i < X::kValues; i += 4) {  // columns two by two: one read for both rows
      const float2 pair = own[i];
      x.value[i] *= pair.x, x.value[i + 1] *= pair.y;
      x.value[i + 2] *= pair.x, x.value[i + 3] *= pair.y;
    }
  }

  // ---- elementwise ------------------------------------------------------------------------------

  template <class Y, class X>
  DAYBREAK_DEVICE void act(Y& y, const X& x, isa::Function function, float factor) {
    assign(y, x, [&](float v) {
      v *= factor;
      return function == isa::Function::relu ? fmaxf(v, 0.f) : v;
    });
  }
  template <int R> DAYBREAK_DEVICE void add(Rows<R>& y, const Rows<R>& a, const Rows<R>& b) {
    each(y, a, b, [](float& d, float l, float r) { d = l + r; });
  }
  template <int R>
  DAYBREAK_DEVICE void mul(Rows<R>& y, const Rows<R>& a, const SharedTile<float, R, 1>& b) {
    for (int i = 0; i < Rows<R>::kValues; ++i) y.value[i] = a.value[i] * b.value[row_of(i)];
  }

  // ---- exchange and stores ----------------------------------------------------------------------

  template <int R> DAYBREAK_DEVICE void put(SharedTile<float, R, 1>& to, const Rows<R>& x) {
    __syncwarp();  // the other threads of a row may have read what was there
    if (lane() % 4 == 0)
      for (int i = 0; i < Rows<R>::kValues; ++i) to.value[row_of(i)] = x.value[i];
  }
  template <int R> DAYBREAK_DEVICE void get(Rows<R>& x, const SharedTile<float, R, 1>& from) {
    for (int i = 0; i < Rows<R>::kValues; ++i) x.value[i] = from.value[row_of(i)];
  }
  DAYBREAK_DEVICE void put(SharedTile<Bf16, 64, 64>& to, const Acc<64, 64>& x) {
    const int row = first_row();
    const uint32_t at = shared_address(to.bytes) + row * 128 + lane() % 4 * 4;
#pragma unroll
    for (int i = 0; i < 16; ++i)  // chunk of 8 columns i / 2, row half i % 2
      asm volatile("st.shared.b32 [%0], %1;" ::"r"(at + i % 2 * 1024 + ((i / 2) ^ (row % 8)) * 16),
                   "r"(pack_bf16(x.value[2 * i], x.value[2 * i + 1]))
                   : "memory");
  }
  template <class T, int R, int C, class X>
  DAYBREAK_DEVICE void put(Fragment<T, R, C, kGroups>& to, const X& x) {
    assign(to, x, [](float v) { return v; });
  }
  template <int R> DAYBREAK_DEVICE void load(Rows<R>& x, const Tensor& from, int64_t row, int64_t) {
    for (int i = 0; i < Rows<R>::kValues; ++i) {
      const int64_t r = row + row_of(i);
      x.value[i] = r < from.rows ? __ldg(reinterpret_cast<const float*>(from.line(r))) : 0.f;
    }
  }
  template <class T, int R, int C>
  DAYBREAK_DEVICE void store(const Tensor& to, int64_t row, int64_t col,
                             const Fragment<T, R, C, kGroups>& x) {
    if constexpr (C == 1) {
      if (lane() % 4 == 0)
        for (int i = 0; i < Rows<R>::kValues; ++i)
          if (row + row_of(i) < to.rows)
            reinterpret_cast<float*>(to.line(row + row_of(i)))[col] = x.value[i];
    } else {
      for (int half = 0; half < 2; ++half) {
        if (row + row_of(half) >= to.rows) continue;
        T* at = reinterpret_cast<T*>(to.line(row + row_of(half))) + col + lane() % 4 * 2;
#pragma unroll
        for (int i = half; i < C / 4; i += 2)
          store_pair(at + i / 2 * 8, x.value[2 * i], x.value[2 * i + 1]);
      }
    }
  }

 private:
  // Row of the tile that register i of Rows holds.
  DAYBREAK_DEVICE int row_of(int i) const { return group * 64 + first_row() + i * 8; }

  template <class T> DAYBREAK_DEVICE Barrier* barriers_of(T& t) {
    return arrived + (shared_address(&t) - shared_address(slot)) / 8192;
  }
  static DAYBREAK_DEVICE void store_pair(float* at, float a, float b) {
    *reinterpret_cast<float2*>(at) = {a, b};
  }
  static DAYBREAK_DEVICE void store_pair(Bf16* at, float a, float b) {
    *reinterpret_cast<uint32_t*>(at) = pack_bf16(a, b);
  }
  DAYBREAK_DEVICE int page_of(const Tensor& t, const Tensor& index, int64_t row, int64_t entry) {
    const int page = __ldg(reinterpret_cast<const int32_t*>(index.line(row)) + entry);
    if (page >= 0 && int64_t(page) * t.page_rows < t.rows) return page;
    raise(context, kUnmappedPage);
    return -1;
  }
  DAYBREAK_DEVICE void check_stamp(const Tensor& stamp, int64_t row, const Tensor& requests) {
    if (!fresh) return;
    fresh = false;
    if (thread_of_group() != 0) return;
    const int generation = read(stamp, row, 0), request = read(stamp, row, 1);
    if (request < 0 || request >= requests.rows || read(requests, request, 2) != generation)
      raise(context, kStaleTable);
  }

  // Eight threads a row, 16 bytes each; row -1 becomes zeros. name(rows) says which rows.
  template <int R, int C, class NameRows>
  DAYBREAK_DEVICE void copy(SharedTile<Bf16, R, C>& to, const Tensor& tensor, NameRows name) {
    constexpr int kCopies = R / kRowStep;
    const int row = thread_of_group() / 8, chunk = thread_of_group() % 8;
    const int rows = int(tensor.rows);
    const uint8_t* from[kCopies];
    int index[kCopies], size[kCopies];
    bool bad = false;
    name(index);
#pragma unroll
    for (int i = 0; i < kCopies; ++i) {
      const bool named = uint32_t(index[i]) < uint32_t(rows);
      bad |= !named && index[i] != -1;
      size[i] = named ? 16 : 0;
      from[i] = tensor.line(named ? index[i] : 0) + chunk * 16;
    }
    if (bad) raise(context, kOutsideRow);
    vacant->wait(parity);
    const uint32_t at = shared_address(to.bytes) + row * 128 + ((chunk ^ (row % 8)) * 16);
#pragma unroll
    for (int panel = 0; panel < to.kPanels; ++panel) {
#pragma unroll
      for (int i = 0; i < kCopies; ++i)
        copy_16(at + panel * to.kPanelBytes + i * kRowStep * 128, from[i] + panel * 128, size[i]);
      if (awaited >> panel & 1) barriers_of(to)[panel].arrive_when_copied();
    }
  }
};

}  // namespace daybreak::kernels::hopper
