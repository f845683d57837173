#include "kernels/machines/passes/accesses.hpp"
#include "kernels/machines/passes/passes.hpp"

namespace daybreak::kernels {

void place(Recording& r) {
  for (const Recorded& c : r.code) {
    const auto* product = std::get_if<isa::Mma>(&c.instruction);
    if (!product) continue;
    for (const isa::TileRef* operand :
         {&product->a, &product->b, &product->a_scales, &product->b_scales})
      if (!operand->empty()) r.tiles[operand->id].space = isa::Space::operand;
  }
}

}  // namespace daybreak::kernels
