#include "kernels/machines/passes/accesses.hpp"
#include "kernels/machines/passes/passes.hpp"

namespace daybreak::kernels {

void place(Recording& r) {
  for (const Recorded& c : r.code) {
    const auto* product = std::get_if<isa::Mma>(&c.instruction);
    if (!product) continue;
    r.tiles[product->a.id].space = isa::Space::operand;
    r.tiles[product->b.id].space = isa::Space::operand;
  }
}

}  // namespace daybreak::kernels
