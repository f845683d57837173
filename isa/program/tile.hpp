// How an instruction names scratch memory: a 2-D region of one scratchpad.
#pragma once
#include <cstdint>

#include "isa/program/types.hpp"
#include "ref/numeric/format.hpp"

namespace daybreak::isa {

// `rows` x `cols` elements of `format`; row r starts at byte `offset + r * pitch` of scratchpad `space`.
// `id` names the tile the region is a view of (labels, hazard derivation before allocation).
struct TileRef {
  uint32_t id = 0;
  Space space = Space::vector;
  Format format = Format::f32;
  uint32_t offset =
      0;  // bytes, from the scratchpad's start (before allocation: from the tile's start)
  uint32_t pitch = 0;  // bytes from one row to the next
  uint32_t rows = 0;
  uint32_t cols = 0;

  bool operator==(const TileRef&) const = default;
  bool empty() const { return rows == 0 || cols == 0; }
  int64_t row_bytes() const { return bytes_of(format, cols); }
  int64_t elements() const { return int64_t(rows) * cols; }
  int64_t bytes() const { return rows * row_bytes(); }
  // One past the last byte touched.
  uint32_t end() const {
    return empty() ? offset : offset + (rows - 1) * pitch + uint32_t(row_bytes());
  }
};

// Whether two regions share a byte. Exact when the pitches are equal and rows do not wrap; otherwise
// by address range, which may report a false overlap, never miss one.
bool overlap(const TileRef& a, const TileRef& b);

}  // namespace daybreak::isa
