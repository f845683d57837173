// Bytes an operand touches, as rows of one length at one pitch: scratch tiles and rectangles of tensors
// alike. Hazards, bounds and overlap are decided on these.
#pragma once
#include <cstdint>

#include "isa/memory/tensor.hpp"
#include "isa/program/tile.hpp"

namespace daybreak::isa {

// Row r is the bytes [begin + r * pitch, begin + r * pitch + row_bytes). pitch > 0, rows may wrap into
// each other only when rows == 1 has been folded (make it contiguous then).
struct Region {
  int64_t begin = 0, rows = 0, pitch = 0, row_bytes = 0;
  int64_t end() const { return rows == 0 ? begin : begin + (rows - 1) * pitch + row_bytes; }
  bool contiguous() const { return rows <= 1 || pitch == row_bytes; }
  bool empty() const { return rows == 0 || row_bytes == 0; }
};

// Exact when the pitches are equal (or a side is contiguous) and rows do not wrap; otherwise by range.
bool overlap(const Region& a, const Region& b);
// Whether every byte of `inner` is surely one of `outer`; false when in doubt.
bool covers(const Region& outer, const Region& inner);

Region region_of(const TileRef&);
// The part of rows [row, row + rows) x columns [col, col + cols) that lies inside the tensor, relative to
// the binding's base; its envelope where the rows have no single pitch.
Region region_of(const TensorDesc&, int64_t row, int64_t col, int64_t rows, int64_t cols);

}  // namespace daybreak::isa
