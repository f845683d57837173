// Tiles of the block machine from memory and to it, all threads of a block together. Copies in run in the
// background where addresses allow.
#pragma once
#include "kernels/machines/hopper/block_tile.cuh"
#include "kernels/machines/hopper/tensor.cuh"

namespace daybreak::kernels::hopper {

template <int kThreads> struct BlockCopies {
  // Rows `row_of(r)` of `from`, zeros for -1 and for what lies outside.
  template <class T, int R, int C, class RowOf>
  static DAYBREAK_DEVICE void in(BlockTile<T, R, C>& to, const Tensor& from, int64_t col,
                                 RowOf row_of) {
    constexpr int kBytes = C * sizeof(T), kChunks = kBytes / 16;
    const int64_t skip = col * int64_t(sizeof(T));
    const int inside = int(most(least(int(from.cols - col), C), 0)) * int(sizeof(T));
    const bool aligned = ((reinterpret_cast<uint64_t>(from.data) | uint64_t(skip) |
                           uint64_t(from.pitch) | uint64_t(from.page_pitch)) &
                          15) == 0;
    if (R == 1 && kBytes % 16 == 0 && (aligned || aligned_row(from, row_of(0), skip))) {
      copy_row<kBytes>(shared_address(to.value), from, row_of(0), skip, inside);
      return;
    }
    if (kBytes % 16 == 0 && aligned) {
#pragma unroll 1
      for (int i = threadIdx.x; i < R * kChunks; i += kThreads) {
        const int r = i / most(kChunks, 1), at = i % most(kChunks, 1) * 16;
        const int64_t row = row_of(r);
        const int bytes = row >= 0 && row < from.rows ? within(inside - at, 0, 16) : 0;
        const uint8_t* source = bytes > 0 ? from.row(row) + skip + at : from.data;
        copy_16(shared_address(to.value) + r * kBytes + at, source, bytes);
      }
      return;
    }
#pragma unroll 1
    for (int i = threadIdx.x; i < R * C; i += kThreads) {
      const int64_t row = row_of(i / C);
      const bool in = row >= 0 && row < from.rows && i % C < inside / int(sizeof(T));
      to.value[i] = in ? *from.at<T>(row, col + i % C) : T{};
    }
  }
  // Tile rows to rows `row_of(r)`, none for -1; what lies outside is left out.
  template <class X, class RowOf>
  static DAYBREAK_DEVICE void out(const Tensor& to, int64_t col, const X& from, RowOf row_of) {
    using T = typename X::Element;
    constexpr int kBytes = X::kCols * sizeof(T);
    if (kBytes % 16 == 0 && col == 0 && to.cols >= X::kCols &&
        ((reinterpret_cast<uint64_t>(to.data) | uint64_t(to.pitch) | uint64_t(to.page_pitch)) &
         15) == 0) {
      constexpr int kChunks = most(kBytes / 16, 1);
      if constexpr (X::kRows == 1) {
        const int64_t row = row_of(0);
        if (row < 0) return;
        uint4* out = reinterpret_cast<uint4*>(to.row(row));
        const uint4* in = reinterpret_cast<const uint4*>(element(from, 0, 0));
#pragma unroll
        for (int i = 0; i < kChunks; i += kThreads)
          if (const int own = i + int(threadIdx.x); kChunks % kThreads == 0 || own < kChunks)
            out[own] = in[own];
      } else {
#pragma unroll 1
        for (int i = threadIdx.x; i < X::kRows * kChunks; i += kThreads) {
          const int64_t row = row_of(i / kChunks);
          if (row >= 0)
            reinterpret_cast<uint4*>(to.row(row))[i % kChunks] =
                reinterpret_cast<const uint4*>(element(from, i / kChunks, 0))[i % kChunks];
        }
      }
      return;
    }
#pragma unroll 1
    for (int i = threadIdx.x; i < X::kRows * X::kCols; i += kThreads) {
      const int64_t row = row_of(i / X::kCols);
      if (row >= 0 && col + i % X::kCols < to.cols)
        *to.at<T>(row, col + i % X::kCols) = *element(from, i / X::kCols, i % X::kCols);
    }
  }

 private:
  // `inside` bytes of a row from byte `skip` on, and zeros behind them.
  template <int kBytes>
  static DAYBREAK_DEVICE void copy_row(uint32_t to, const Tensor& from, int64_t row, int64_t skip,
                                       int inside) {
    constexpr int kStride = kThreads * 16;
    const bool there = row >= 0 && row < from.rows;
    const uint8_t* source = there ? from.row(row) + skip : from.data;
    const int first = int(threadIdx.x) * 16, end = there ? inside : 0;
    if (kBytes % kStride == 0 && end == kBytes) {
#pragma unroll 2
      for (int at = first; at < first + kBytes; at += kStride) copy_16(to + at, source + at);
      return;
    }
    const int last = most((end - 1) & ~15, 0);
#pragma unroll 1
    for (int at = first; at < kBytes; at += kStride)
      copy_16(to + at, source + least(at, last), within(end - at, 0, 16));
  }
  static DAYBREAK_DEVICE bool aligned_row(const Tensor& t, int64_t row, int64_t skip) {
    return row >= 0 && (reinterpret_cast<uint64_t>(t.row(row) + skip) & 15) == 0;
  }
};

}  // namespace daybreak::kernels::hopper
