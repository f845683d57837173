// Parts of a matrix product.
#pragma once
#include "isa/instructions/mma.hpp"

namespace daybreak::kernels {

// The shortest part of the reduction that is summed in double and rounded once (design.md section
// 6).
inline uint32_t chunk_of(const isa::Mma& p) { return p.chunk(); }
inline uint32_t skip(const isa::TileRef& t, uint32_t row, uint32_t col) {
  return t.offset + row * t.pitch + uint32_t(bytes_of(t.format, col));
}

// Scales of groups [from, from + count) of the reduction; nothing stays nothing.
inline void slice_scales(isa::TileRef& t, uint32_t from, uint32_t count) {
  if (t.empty()) return;
  t.offset = skip(t, 0, from), t.cols = count;
}

// Terms [from, from + count) of the reduction.
inline isa::Mma slice_reduction(isa::Mma p, uint32_t from, uint32_t count) {
  p.a.offset = skip(p.a, 0, from), p.a.cols = count;
  if (p.b_transposed)
    p.b.offset = skip(p.b, 0, from), p.b.cols = count;
  else
    p.b.offset = skip(p.b, from, 0), p.b.rows = count;
  const uint32_t chunk = chunk_of(p);
  for (isa::TileRef* scales : {&p.a_scales, &p.b_scales})
    slice_scales(*scales, from / chunk, (count + chunk - 1) / chunk);
  return p;
}
// Columns [from, from + count) of the result.
inline isa::Mma slice_columns(isa::Mma p, uint32_t from, uint32_t count) {
  p.acc.offset = skip(p.acc, 0, from), p.acc.cols = count;
  if (p.b_transposed)
    p.b.offset = skip(p.b, from, 0), p.b.rows = count;
  else
    p.b.offset = skip(p.b, 0, from), p.b.cols = count;
  if (!p.b_scales.empty()) p.b_scales.offset = skip(p.b_scales, from, 0), p.b_scales.rows = count;
  return p;
}
// Rows [from, from + count) of the result.
inline isa::Mma slice_rows(isa::Mma p, uint32_t from, uint32_t count) {
  p.acc.offset = skip(p.acc, from, 0), p.acc.rows = count;
  p.a.offset = skip(p.a, from, 0), p.a.rows = count;
  if (!p.a_scales.empty()) p.a_scales.offset = skip(p.a_scales, from, 0), p.a_scales.rows = count;
  return p;
}

}  // namespace daybreak::kernels
