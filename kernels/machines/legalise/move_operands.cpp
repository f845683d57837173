#include "kernels/machines/legalise/mirror.hpp"
#include "kernels/machines/legalise/rules.hpp"
#include "kernels/machines/legalise/uses.hpp"

namespace daybreak::kernels {

void move_operands(Recording& r, const isa::Capabilities& chip) {
  if (chip.operand_visible && chip.gather_to_operand) return;
  const std::vector<TileUse> uses = uses_of(r);
  Mirrors mirrors(uses.size());
  bool any = false;
  for (uint32_t id = 0; id < uses.size(); ++id) {
    const TileUse& use = uses[id];
    if (!use.operand) continue;
    if (!(use.vector && !chip.operand_visible) && !(use.gathered && !chip.gather_to_operand))
      continue;
    mirrors.add(id, r.add_tile(r.tiles[id].whole(id), r.tiles[id].lifetime).id);
    any = true;
  }
  if (!any) return;
  auto place = [&](isa::TileRef t) {
    t.id = mirrors.twin(t.id);
    return t;
  };
  mirrors.apply(r, place, [&](std::vector<Recorded>& out, const Recorded& like, isa::TileRef part) {
    out.push_back({isa::Move{.to = place(part), .from = part}, like.body, like.step});
  });
}

}  // namespace daybreak::kernels
