// How each tile of a recording is used: what the rules decide on.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels/machines/passes/accesses.hpp"
#include "kernels/machines/recording.hpp"

namespace daybreak::kernels {

struct TileUse {
  bool operand = false;  // of a product
  bool fp8_operand = false;
  bool product = false;  // accumulator of a product
  bool vector = false;   // touched by the vector or sort unit
  bool gathered = false;
  bool stored = false;  // read by the DMA engine
};

inline std::vector<TileUse> uses_of(const Recording& r) {
  std::vector<TileUse> uses(r.tiles.size());
  for (const Recorded& c : r.code) {
    const isa::Queue queue = isa::queue_of(c.instruction);
    const auto* product = std::get_if<isa::Mma>(&c.instruction);
    const bool gather = std::holds_alternative<isa::Gather>(c.instruction);
    visit_tiles(c.instruction, [&](const isa::TileRef& t, isa::Access, bool) {
      TileUse& use = uses[t.id];
      if (product && &t == &product->acc)
        use.product = true;
      else if (product)
        use.operand = true, use.fp8_operand |= t.format == Format::e4m3;
      use.vector |= queue == isa::Queue::vector || queue == isa::Queue::sort;
      use.gathered |= gather;
      use.stored |= queue == isa::Queue::dma_out;
    });
  }
  return uses;
}

}  // namespace daybreak::kernels
