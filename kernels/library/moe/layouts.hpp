// How the tensors of a routed expert layer lie in memory (spec/operators.md section 5).
//
// Rows of an expert stand one behind the other and start at a multiple of 16; rows that no token fills
// are padding: their entry of the row table is -1, what they hold means nothing and nobody reads it.
#pragma once
#include <algorithm>
#include <cstdint>

#include "isa/memory/tensor.hpp"

namespace daybreak::kernels::moe {

using isa::OutOfBounds;
using isa::TensorDesc;

inline constexpr int kGroup = 128;      // columns that share a scale
inline constexpr int kBlock = 32;       // weights that share a byte of scale
inline constexpr int kRowAlign = 16;    // rows of an expert start at multiples of it
inline constexpr int kTokens = 16;      // tokens of one step of the routing kernels
inline constexpr int kFillRows = 1024;  // entries of the row table reset at a time
inline constexpr int kPieces = 256;     // pieces of a work list written at a time

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }
constexpr int64_t groups_of(int64_t cols) { return ceil_div(cols, kGroup); }

// Rows that `tokens` tokens can take: every expert that is hit may waste 15.
constexpr int64_t row_capacity(int64_t tokens, int64_t topk, int64_t experts) {
  const int64_t hits = tokens * topk;
  return round_up(hits + std::min(hits, experts) * (kRowAlign - 1), kFillRows);
}
// Pieces of at most `piece` rows they can be cut into.
constexpr int64_t piece_capacity(int64_t tokens, int64_t topk, int64_t experts, int64_t piece) {
  const int64_t hits = tokens * topk;
  return round_up(std::max<int64_t>(std::min(hits, experts) + hits / piece, 1), kPieces);
}

// Rows of `cols` elements; reads outside give zeros, writes outside are left out.
inline TensorDesc matrix(uint16_t binding, Format format, int64_t rows, int64_t cols) {
  TensorDesc t = isa::tensor(binding, format, {rows, cols});
  t.out_of_bounds = OutOfBounds::zero;
  return t;
}

// The first `count` rows of a matrix: what a tile has beyond them is neither read nor written.
inline TensorDesc first_rows(TensorDesc t, int64_t count) {
  t.dims[0] = std::min(t.dims[0], count);
  return t;
}

// Every `step`-th row, from `first` on, of the matrices (experts, all_rows, cols) of a binding: `rows`
// of them. step 2 takes the gates or the ups of a matrix that has them by turns.
inline TensorDesc planes(uint16_t binding, Format format, int64_t experts, int64_t all_rows,
                         int64_t cols, int64_t rows, int64_t first = 0, int64_t step = 1) {
  const int64_t row_bytes = bytes_of(format, cols);
  return {.binding = binding,
          .format = format,
          .out_of_bounds = OutOfBounds::zero,
          .rank = 3,
          .offset = first * row_bytes,
          .dims = {experts, rows, cols},
          .strides = {all_rows * row_bytes, step * row_bytes,
                      std::max<int64_t>(bytes_of(format, 1), 1)}};
}

}  // namespace daybreak::kernels::moe
