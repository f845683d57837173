#include "isa/instructions/detail/movement.hpp"

#include <algorithm>

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa::detail {

namespace {

std::string extent(int64_t first, int64_t count) {
  return "[" + std::to_string(first) + ", " + std::to_string(first + count) + ")";
}

}  // namespace

Rectangle clip(const Context& c, const TensorRef& view, int64_t rows, int64_t cols,
               std::string_view instruction) {
  const TensorDesc& t = c.tensor(view);
  Rectangle r{.tensor = &t, .base = c.binding(view).base.value};
  const int64_t last_row = std::min(view.row + rows, t.rows());
  const int64_t last_col = std::min(view.col + cols, t.cols());
  r.row = std::max<int64_t>(view.row, 0);
  r.col = std::max<int64_t>(view.col, 0);
  r.rows = std::max<int64_t>(last_row - r.row, 0);
  r.cols = std::max<int64_t>(last_col - r.col, 0);
  r.tile_row = r.row - view.row;
  r.tile_col = r.col - view.col;
  r.whole = r.rows == rows && r.cols == cols;
  if (!r.whole && t.out_of_bounds == OutOfBounds::fault)
    fail(instruction, "rows " + extent(view.row, rows) + ", columns " + extent(view.col, cols) +
                          " leave tensor t" + std::to_string(view.tensor) + " of " +
                          std::to_string(t.rows()) + "x" + std::to_string(t.cols()));
  const int64_t bits = bits_of(t.format);
  if (bits < 8 && (r.col * bits % 8 || r.tile_col * bits % 8))
    fail(instruction, "column " + std::to_string(r.col) + " of tensor t" +
                          std::to_string(view.tensor) + " does not begin on a byte");
  return r;
}

void read_rectangle(Context& c, const Rectangle& from, const TileRef& to, std::byte* base) {
  const int64_t bytes = from.row_bytes(), pitch = to.pitch;
  std::byte* corner = base + from.tile_row * pitch + bytes_of(to.format, from.tile_col);
  for_each_run(from, [&](uint64_t address, int64_t first, int64_t count) {
    if (pitch == bytes) {
      c.memory.read(Address(address), {corner + first * pitch, size_t(count * bytes)});
    } else {
      for (int64_t i = 0; i < count; ++i)
        c.memory.read(Address(address + uint64_t(i * bytes)),
                      {corner + (first + i) * pitch, size_t(bytes)});
    }
  });
}

void write_rectangle(Context& c, const Rectangle& to, const TileRef& from, const std::byte* base) {
  const int64_t bytes = to.row_bytes(), pitch = from.pitch;
  const std::byte* corner = base + to.tile_row * pitch + bytes_of(from.format, to.tile_col);
  for_each_run(to, [&](uint64_t address, int64_t first, int64_t count) {
    if (pitch == bytes) {
      c.memory.write(Address(address), {corner + first * pitch, size_t(count * bytes)});
    } else {
      for (int64_t i = 0; i < count; ++i)
        c.memory.write(Address(address + uint64_t(i * bytes)),
                       {corner + (first + i) * pitch, size_t(bytes)});
    }
  });
}

void emit(const Rectangle& r, bool write, const SegmentSink& sink) {
  const int64_t bytes = r.cols > 0 ? r.row_bytes() : 0;
  for_each_run(r, [&](uint64_t address, int64_t, int64_t count) {
    sink(Segment{Address(address), Bytes(count * bytes), write});
  });
}

std::vector<int32_t> read_words(const Context& c, const TensorRef& view, int64_t count,
                                int32_t outside, std::string_view instruction) {
  c.require_real(view);
  const TensorDesc& t = c.tensor(view);
  if (t.format != Format::i32)
    fail(instruction, "tensor t" + std::to_string(view.tensor) + " must hold i32, not " +
                          std::string(daybreak::name_of(t.format)));
  std::vector<int32_t> words(size_t(std::max<int64_t>(count, 0)), outside);
  const Rectangle r = clip(c, view, 1, count, instruction);
  if (r.rows && r.cols)
    c.memory.read(Address(r.address(0)), std::as_writable_bytes(std::span(words).subspan(
                                             size_t(r.tile_col), size_t(r.cols))));
  return words;
}

int64_t row_of_entry(const TensorDesc& t, int64_t first_row, int64_t index, int64_t rows_per_entry,
                     int64_t entry, std::string_view instruction) {
  if (index < -1)
    fail(instruction, "entry " + std::to_string(entry) + " of the index table is " +
                          std::to_string(index) + "; rows and -1 are allowed");
  if (index < 0) return -1;
  const int64_t row = first_row + index * rows_per_entry;
  if (row >= 0 && row + rows_per_entry <= t.rows()) return row;
  if (t.out_of_bounds == OutOfBounds::fault)
    fail(instruction, "entry " + std::to_string(entry) + " of the index table names rows " +
                          extent(row, rows_per_entry) + " of a tensor of " +
                          std::to_string(t.rows()));
  return -1;
}

void expect_format(const Context& c, const TileRef& tile, const TensorRef& view,
                   std::string_view instruction) {
  const Format format = c.tensor(view).format;
  if (format != tile.format)
    fail(instruction, describe(tile) + " and tensor t" + std::to_string(view.tensor) + " (" +
                          std::string(daybreak::name_of(format)) + ") differ in format");
}

}  // namespace daybreak::isa::detail
