#include "isa/instructions/unpack_mxfp4.hpp"

#include <algorithm>
#include <cstring>

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

// Every weight is converted once; the shift of a block against its group is one simple pass.
Work UnpackMxfp4::work() const {
  Work w;
  detail::elements(w, VectorClass::cast) = to.elements();
  detail::elements(w, VectorClass::simple) = to.elements();
  return w;
}

void UnpackMxfp4::execute(Context& c) const {
  const int64_t groups = (int64_t(to.cols) + detail::kMxGroup - 1) / detail::kMxGroup;
  if (to.format != Format::e4m3 || scales.format != Format::f32 || from.format != Format::e2m1 ||
      blocks.format != Format::e8m0 || to.cols % detail::kMxBlock != 0)
    detail::fail(kName, "takes e2m1 codes and e8m0 bytes of whole blocks, gives e4m3 and f32");
  detail::expect_shape(scales, to.rows, groups, "scales", kName);
  detail::expect_shape(from, to.rows, to.cols, "codes", kName);
  detail::expect_shape(blocks, to.rows, to.cols / detail::kMxBlock, "block scales", kName);
  std::byte* to_base = detail::base_of(c, to, kName);
  std::byte* scale_base = detail::base_of(c, scales, kName);
  const std::byte* from_base = detail::base_of(c, from, kName);
  const std::byte* block_base = detail::base_of(c, blocks, kName);
  for (int64_t r = 0; r < to.rows; ++r) {
    const auto* codes = reinterpret_cast<const uint8_t*>(from_base + r * int64_t(from.pitch));
    const auto* bytes = reinterpret_cast<const uint8_t*>(block_base + r * int64_t(blocks.pitch));
    auto* y = reinterpret_cast<uint8_t*>(to_base + r * int64_t(to.pitch));
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t first = g * detail::kMxGroup / detail::kMxBlock;
      const int64_t count =
          std::min<int64_t>(detail::kMxGroup / detail::kMxBlock, int64_t(blocks.cols) - first);
      const float scale = detail::convert_mx_group(codes + first * detail::kMxBlockBytes,
                                                   {bytes + first, size_t(count)}, order, bias,
                                                   y + g * detail::kMxGroup, c.conversions);
      std::memcpy(scale_base + r * int64_t(scales.pitch) + g * 4, &scale, 4);
    }
  }
}

}  // namespace daybreak::isa
