#include "isa/instructions/keep_columns.hpp"

#include <algorithm>

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

namespace {

// The columns that are overwritten, as a tile.
TileRef masked(const KeepColumns& k) {
  const uint32_t kept = uint32_t(std::clamp<int64_t>(k.count, 0, k.tile.cols));
  TileRef rest = k.tile;
  rest.offset += uint32_t(bytes_of(k.tile.format, kept));
  rest.cols -= kept;
  return rest;
}

}  // namespace

// Only the overwritten columns are touched.
Work KeepColumns::work() const {
  Work w;
  const TileRef rest = masked(*this);
  detail::elements(w, VectorClass::simple) = rest.elements();
  if (rest.format != Format::f32) detail::elements(w, VectorClass::cast) = rest.elements();
  if (rest.space == Space::accumulator) w.accumulator_bytes = rest.bytes();
  return w;
}

void KeepColumns::execute(Context& c) const {
  detail::base_of(c, tile, kName);
  const TileRef rest = masked(*this);
  if (!rest.empty()) detail::elementwise(c, kName, rest, [v = value] { return v; });
}

}  // namespace daybreak::isa
