#include "isa/instructions/stream_mxfp4.hpp"

#include <algorithm>
#include <cstring>

#include "isa/instructions/detail/movement.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

namespace {

struct Source {
  detail::Rectangle codes, scales;
};

Source source_of(const Context& c, const StreamMxfp4& i) {
  if (c.tensor(i.from).format != Format::e2m1 || c.tensor(i.from_scales).format != Format::e8m0)
    detail::fail(StreamMxfp4::kName, "weights must be e2m1 and their block scales e8m0");
  if (i.from.col % detail::kMxGroup != 0)
    detail::fail(StreamMxfp4::kName, "column " + std::to_string(i.from.col) +
                                         " does not begin a group of " +
                                         std::to_string(detail::kMxGroup));
  const int64_t blocks = i.block_columns(), block = i.from.col / detail::kMxBlock;
  return {detail::clip(c, i.from, i.to.rows, i.to.cols, StreamMxfp4::kName),
          detail::clip(c, {i.from_scales.tensor, i.from_scales.row, i.from_scales.col + block},
                       i.to.rows, blocks, StreamMxfp4::kName)};
}

// Packed rows of a rectangle.
std::vector<uint8_t> read(Context& c, const detail::Rectangle& r) {
  std::vector<uint8_t> bytes(size_t(r.rows > 0 && r.cols > 0 ? r.rows * r.row_bytes() : 0));
  detail::for_each_run(r, [&](uint64_t address, int64_t first, int64_t count) {
    c.memory.read(Address(address),
                  std::as_writable_bytes(std::span(bytes).subspan(size_t(first * r.row_bytes()),
                                                                  size_t(count * r.row_bytes()))));
  });
  return bytes;
}

}  // namespace

Work StreamMxfp4::work() const {
  return {.read_bytes = bytes_of(Format::e2m1, to.elements()) + int64_t(to.rows) * block_columns(),
          .converted = to.elements(),
          .block_scale_bytes = int64_t(to.rows) * block_columns()};
}

void StreamMxfp4::execute(Context& c) const {
  if (to.format != Format::e4m3 || scales.format != Format::f32)
    detail::fail(kName, "codes must be e4m3 and scales f32");
  const int64_t groups = (int64_t(to.cols) + detail::kMxGroup - 1) / detail::kMxGroup;
  detail::expect_shape(scales, to.rows, groups, "scales", kName);
  const Source s = source_of(c, *this);
  if (s.codes.cols % detail::kMxBlock != 0 || s.codes.cols / detail::kMxBlock != s.scales.cols ||
      s.codes.rows != s.scales.rows)
    detail::fail(kName, std::to_string(s.codes.rows) + "x" + std::to_string(s.codes.cols) +
                            " weights do not fit " + std::to_string(s.scales.rows) + "x" +
                            std::to_string(s.scales.cols) + " blocks of 32");
  const auto codes = read(c, s.codes), bytes = read(c, s.scales);
  std::byte* to_base = detail::base_of(c, to, kName);
  std::byte* scale_base = detail::base_of(c, scales, kName);
  for (int64_t r = 0; r < to.rows; ++r) {
    auto* y = reinterpret_cast<uint8_t*>(to_base + r * int64_t(to.pitch));
    float values[1];
    const int64_t row = r - s.codes.tile_row;
    const bool inside = row >= 0 && row < s.codes.rows;
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t first = g * detail::kMxGroup / detail::kMxBlock;
      const int64_t count =
          inside ? std::clamp<int64_t>(s.scales.cols - first, 0, detail::kMxGroup / 32) : 0;
      const int64_t width = std::min<int64_t>(detail::kMxGroup, to.cols - g * detail::kMxGroup);
      values[0] = 0;
      if (count > 0) {
        values[0] = detail::convert_mx_group(
            codes.data() + (row * s.scales.cols + first) * detail::kMxBlockBytes,
            std::span(bytes).subspan(size_t(row * s.scales.cols + first), size_t(count)), order,
            bias, y + g * detail::kMxGroup, c.conversions);
      }
      if (count * detail::kMxBlock < width)
        std::memset(y + g * detail::kMxGroup + count * detail::kMxBlock, 0,
                    size_t(width - count * detail::kMxBlock));
      std::memcpy(scale_base + r * int64_t(scales.pitch) + g * 4, values, 4);
    }
  }
}

int64_t StreamMxfp4::scale_bytes(const Context& c) const {
  const detail::Rectangle scales = source_of(c, *this).scales;
  return scales.rows > 0 && scales.cols > 0 ? scales.rows * scales.cols : 0;
}

void StreamMxfp4::for_each_segment(const Context& c, const SegmentSink& sink) const {
  const Source s = source_of(c, *this);
  detail::emit(s.scales, false, sink);
  detail::emit(s.codes, false, sink);
}

}  // namespace daybreak::isa
