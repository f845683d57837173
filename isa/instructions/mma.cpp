#include "isa/instructions/mma.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "isa/instructions/detail/mma_kernel.hpp"
#include "isa/instructions/detail/rows.hpp"
#include "ref/numeric/convert.hpp"

namespace daybreak::isa {

namespace {

using detail::kPanelCols;
using detail::kPanelRows;

int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

// Elements [first, first + count) of a row, as fp32.
void decode(Format format, const std::byte* row, int64_t first, int64_t count, float* to) {
  if (format == Format::bf16)
    numeric::decode_bf16({reinterpret_cast<const uint16_t*>(row) + first, size_t(count)}, to);
  else
    numeric::decode_e4m3({reinterpret_cast<const uint8_t*>(row) + first, size_t(count)}, to);
}

// An operand whose rows run along the reduction, columns [first, first + depth): panels of `width` rows,
// each (depth, width). Rows past the end are zeros.
void pack_along(const TileRef& t, const std::byte* base, int64_t first, int64_t depth,
                int64_t width, double* to) {
  float buffer[128];
  for (int64_t p = 0; p < round_up(t.rows, width); ++p) {
    double* at = to + p / width * width * depth + p % width;
    if (p >= int64_t(t.rows)) {
      for (int64_t k = 0; k < depth; ++k) at[k * width] = 0;
      continue;
    }
    decode(t.format, base + p * int64_t(t.pitch), first, depth, buffer);
    for (int64_t k = 0; k < depth; ++k) at[k * width] = buffer[k];
  }
}

// An operand whose rows are steps of the reduction, rows [first, first + depth): panels of kPanelCols
// columns, each (depth, kPanelCols).
void pack_across(const TileRef& t, const std::byte* base, int64_t first, int64_t depth,
                 float* buffer, double* to) {
  const int64_t cols = t.cols, padded = round_up(cols, kPanelCols);
  std::fill(buffer + cols, buffer + padded, 0.0f);
  for (int64_t k = 0; k < depth; ++k) {
    decode(t.format, base + (first + k) * int64_t(t.pitch), 0, cols, buffer);
    for (int64_t p = 0; p < padded; p += kPanelCols) {
      double* at = to + p * depth + k * kPanelCols;
      for (int j = 0; j < kPanelCols; ++j) at[j] = buffer[p + j];
    }
  }
}

void expect_operands(const Mma& i) {
  for (const TileRef* t : {&i.a, &i.b})
    if ((t->format != Format::bf16 && t->format != Format::e4m3) ||
        (t->format == Format::bf16 && (t->offset % 2 || t->pitch % 2)))
      detail::fail(Mma::kName, detail::describe(*t) + " must be bf16 (2-byte aligned) or e4m3");
  if (i.acc.format != Format::f32 || i.acc.offset % 4 || i.acc.pitch % 4)
    detail::fail(Mma::kName, detail::describe(i.acc) + " must be f32, 4-byte aligned");
  detail::expect_shape(i.acc, i.a.rows, i.b_transposed ? i.b.rows : i.b.cols, "accumulator",
                       Mma::kName);
  if (i.a.cols != (i.b_transposed ? i.b.cols : i.b.rows))
    detail::fail(Mma::kName, detail::describe(i.a) + " and " + detail::describe(i.b) +
                                 " differ in the length of the reduction");
  if (!i.scaled()) return;
  const int64_t groups = (i.a.cols + 127) / 128;
  if (!i.b_transposed) detail::fail(Mma::kName, "group scales need b as (n, k)");
  detail::expect_shape(i.a_scales, i.a.rows, groups, "left scales", Mma::kName);
  detail::expect_shape(i.b_scales, i.b.rows, groups, "right scales", Mma::kName);
  for (const TileRef* t : {&i.a_scales, &i.b_scales})
    if (t->format != Format::f32 || t->offset % 4 || t->pitch % 4)
      detail::fail(Mma::kName, detail::describe(*t) + " must be f32, 4-byte aligned");
}

// Column g of a tile of scales, padded with zeros.
void scale_column(Context& c, const TileRef& t, int64_t g, int64_t padded, float* to) {
  const std::byte* base = detail::base_of(c, t, Mma::kName) + g * 4;
  std::fill(to, to + padded, 0.0f);
  for (int64_t r = 0; r < t.rows; ++r) std::memcpy(to + r, base + r * int64_t(t.pitch), 4);
}

}  // namespace

Work Mma::work() const {
  return {.m = a.rows,
          .n = b_transposed ? b.rows : b.cols,
          .k = a.cols,
          .mac_format = fp8() ? Format::e4m3 : Format::bf16,
          .operand_bytes = a.bytes() + b.bytes(),
          .scale_bytes = a_scales.bytes() + b_scales.bytes()};
}

void Mma::execute(Context& c) const {
  expect_operands(*this);
  const std::byte* left = detail::base_of(c, a, kName);
  const std::byte* right = detail::base_of(c, b, kName);
  auto* sum = reinterpret_cast<float*>(detail::base_of(c, acc, kName));
  const int64_t m = acc.rows, n = acc.cols, depth = a.cols, pitch = acc.pitch / 4;
  if (!accumulate)
    for (int64_t r = 0; r < m; ++r) std::fill_n(sum + r * pitch, n, 0.0f);
  const int64_t chunk = this->chunk();
  const int64_t rows = round_up(m, kPanelRows), cols = round_up(n, kPanelCols);
  const auto packed = std::make_unique_for_overwrite<double[]>(size_t((rows + cols) * chunk));
  const auto buffer = std::make_unique_for_overwrite<float[]>(size_t(cols));
  const auto scales = std::make_unique_for_overwrite<float[]>(size_t(rows + cols));
  float *sa = scaled() ? scales.get() : nullptr, *sb = scaled() ? sa + rows : nullptr;
  double* pa = packed.get();
  double* pb = pa + rows * chunk;
  for (int64_t first = 0; first < depth; first += chunk) {
    const int64_t length = std::min(chunk, depth - first);
    pack_along(a, left, first, length, kPanelRows, pa);
    if (b_transposed)
      pack_along(b, right, first, length, kPanelCols, pb);
    else
      pack_across(b, right, first, length, buffer.get(), pb);
    if (sa) {
      scale_column(c, a_scales, first / chunk, rows, sa);
      scale_column(c, b_scales, first / chunk, cols, sb);
    }
    for (int64_t j = 0; j < n; j += kPanelCols)
      for (int64_t i = 0; i < m; i += kPanelRows)
        detail::multiply_panel(pa + i * length, pb + j * length, length, sum + i * pitch + j, pitch,
                               std::min<int64_t>(kPanelRows, m - i),
                               std::min<int64_t>(kPanelCols, n - j), sa ? sa + i : nullptr,
                               sb ? sb + j : nullptr);
  }
}

}  // namespace daybreak::isa
