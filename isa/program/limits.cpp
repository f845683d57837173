#include "isa/program/limits.hpp"

#include <fmt/format.h>

namespace daybreak::isa {

std::string fault_of(const TileRef& t) {
  if (t.rows > kMaxTileExtent || t.cols > kMaxTileExtent)
    return fmt::format("is {}x{}; at most {} rows and columns are allowed", t.rows, t.cols,
                       kMaxTileExtent);
  return {};
}

std::string fault_of(const TensorRef& r) {
  for (int64_t v : {r.row, r.col})
    if (v > kMaxTensorExtent || v < -kMaxTensorExtent)
      return fmt::format("begins at ({}, {}); rows and columns reach from -2^40 to 2^40", r.row,
                         r.col);
  return {};
}

std::string fault_of(const TensorDesc& t) {
  if (t.rank > 5) return fmt::format("has {} dims; at most 5 are allowed", t.rank);
  __int128 elements = 1, reach = t.offset < 0 ? -__int128{t.offset} : __int128{t.offset};
  for (int d = 0; d < 5; ++d) {
    if (d >= t.rank) {
      if (t.dims[d] || t.strides[d]) return fmt::format("has values past its {} dims", t.rank);
      continue;
    }
    if (t.dims[d] < 0 || t.dims[d] > kMaxTensorExtent)
      return fmt::format("has a dim of {}; 0 to 2^40 are allowed", t.dims[d]);
    if (t.strides[d] > kMaxStride || t.strides[d] < -kMaxStride)
      return fmt::format("has a stride of {}; -2^40 to 2^40 are allowed", t.strides[d]);
    elements *= t.dims[d] ? t.dims[d] : 1;
    if (elements > kMaxReach) return "has more than 2^60 elements";
    const int64_t steps = t.dims[d] ? t.dims[d] - 1 : 0;
    reach += __int128{steps} * (t.strides[d] < 0 ? -t.strides[d] : t.strides[d]);
  }
  if (reach > kMaxReach) return "reaches further than 2^60 bytes from its binding's base";
  const int64_t size = bits_of(t.format) < 8 ? 1 : bits_of(t.format) / 8;
  if (t.rank && t.strides[t.rank - 1] != size)
    return fmt::format("has a last stride of {}; it must be the {} byte(s) of an element",
                       t.strides[t.rank - 1], size);
  return {};
}

}  // namespace daybreak::isa
