// Rectangles of tensors in memory, cut into contiguous runs: what the DMA instructions copy and what
// they report as segments.
#pragma once
#include <vector>

#include "isa/instructions/common.hpp"

namespace daybreak::isa::detail {

// The part of a rectangle that lies inside its tensor.
struct Rectangle {
  const TensorDesc* tensor = nullptr;
  uint64_t base = 0;         // of the binding
  int64_t row = 0, col = 0;  // of the tensor
  int64_t rows = 0, cols = 0;
  int64_t tile_row = 0, tile_col = 0;  // where it begins in the rectangle asked for
  bool whole = true;                   // nothing was cut off
  int64_t row_bytes() const { return bytes_of(tensor->format, cols); }
  uint64_t address(int64_t r) const { return base + uint64_t(tensor->offset_of(row + r, col)); }
};

// Rows and columns [0, rows) x [0, cols) from the view's corner on. Throws InvariantError outside a
// tensor whose rule is fault, or where a column does not begin on a byte.
Rectangle clip(const Context& c, const TensorRef& view, int64_t rows, int64_t cols,
               std::string_view instruction);

// Calls f(address, first, count): rows [first, first + count) of the rectangle stand one behind the
// other from `address` on.
template <class F> void for_each_run(const Rectangle& r, F f) {
  if (r.rows <= 0 || r.cols <= 0) return;
  const int64_t bytes = r.row_bytes();
  uint64_t begin = r.address(0), end = begin + uint64_t(bytes);
  int64_t first = 0;
  for (int64_t i = 1; i < r.rows; ++i) {
    const uint64_t at = r.address(i);
    if (at != end) {
      f(begin, first, i - first);
      begin = at;
      first = i;
    }
    end = at + uint64_t(bytes);
  }
  f(begin, first, r.rows - first);
}

// Copies between memory and the tile rows that the rectangle covers.
void read_rectangle(Context& c, const Rectangle& from, const TileRef& to, std::byte* base);
void write_rectangle(Context& c, const Rectangle& to, const TileRef& from, const std::byte* base);
void emit(const Rectangle& r, bool write, const SegmentSink& sink);

// `count` int32 words (view.row, view.col + i); `outside` stands for words outside the tensor where its
// rule allows them. Steering: throws when the binding is phantom.
std::vector<int32_t> read_words(const Context& c, const TensorRef& view, int64_t count,
                                int32_t outside, std::string_view instruction);

// The tensor row of entry i of gather and scatter; throws when the index is unusable. Rows outside a
// tensor whose rule allows them give -1.
int64_t row_of_entry(const TensorDesc& t, int64_t first_row, int64_t index, int64_t rows_per_entry,
                     int64_t entry, std::string_view instruction);

// Throws unless tile and tensor have one format.
void expect_format(const Context& c, const TileRef& tile, const TensorRef& view,
                   std::string_view instruction);

}  // namespace daybreak::isa::detail
