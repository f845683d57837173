#include "kernels/machines/legalise/mirror.hpp"
#include "kernels/machines/legalise/rules.hpp"
#include "kernels/machines/legalise/uses.hpp"

namespace daybreak::kernels {

namespace {

// The same elements in a BF16 twin: bytes become elements, two bytes each.
isa::TileRef widened(const isa::TileRef& t, const VirtualTile& narrow, const isa::TileRef& twin) {
  isa::TileRef w = twin;
  w.offset = t.offset / narrow.pitch * twin.pitch + t.offset % narrow.pitch * 2;
  w.rows = t.rows;
  w.cols = uint32_t(t.row_bytes());
  return w;
}

}  // namespace

void cast_fp8_operands(Recording& r, const isa::Capabilities& chip) {
  if (chip.fp8_matrix) return;
  const std::vector<TileUse> uses = uses_of(r);
  Mirrors mirrors(uses.size());
  std::vector<isa::TileRef> twins(uses.size());
  bool any = false;
  for (uint32_t id = 0; id < uses.size(); ++id) {
    if (!uses[id].fp8_operand) continue;
    const VirtualTile tile = r.tiles[id];
    twins[id] = r.add_tile(
        {.format = Format::bf16, .pitch = tile.pitch * 2, .rows = tile.rows, .cols = tile.pitch},
        tile.lifetime);
    mirrors.add(id, twins[id].id);
    any = true;
  }
  if (!any) return;
  auto place = [&](const isa::TileRef& t) { return widened(t, r.tiles[t.id], twins[t.id]); };
  mirrors.apply(r, place, [&](std::vector<Recorded>& out, const Recorded& like, isa::TileRef part) {
    part.cols = uint32_t(part.row_bytes()), part.format = Format::e4m3;
    out.push_back({isa::Cast{.to = place(part), .from = part}, like.body, like.step});
  });
}

}  // namespace daybreak::kernels
