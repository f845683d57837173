// Tiles that have a twin for the matrix unit to read: which parts the twin lacks, copied just
// before a product needs them, so that a copy never waits in front of work that is ready.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "isa/program/region.hpp"
#include "kernels/machines/passes/accesses.hpp"
#include "kernels/machines/recording.hpp"

namespace daybreak::kernels {

class Mirrors {
 public:
  static constexpr uint32_t kNone = ~0u;

  explicit Mirrors(size_t tiles) : twin_(tiles, kNone), stale_(tiles) {}

  void add(uint32_t tile, uint32_t twin) { twin_[tile] = twin; }
  uint32_t twin(uint32_t tile) const { return tile < twin_.size() ? twin_[tile] : kNone; }

  // The tile's part `t` has been written.
  void written(const isa::TileRef& t) {
    if (twin(t.id) == kNone) return;
    auto& parts = stale_[t.id];
    std::erase_if(parts, [&](const isa::TileRef& old) {
      return isa::covers(isa::region_of(t), isa::region_of(old));
    });
    parts.push_back(t);
  }
  // copy(part) for every stale part that overlaps what a product is about to read.
  template <class F> void refresh(const isa::TileRef& t, F&& copy) {
    auto& parts = stale_[t.id];
    size_t kept = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      const isa::TileRef part = parts[i];
      if (isa::overlap(isa::region_of(part), isa::region_of(t)))
        copy(part);
      else
        parts[kept++] = part;
    }
    parts.resize(kept);
  }

  // Rewrites a recording: products read twins, `copy(out, like, part)` appends the instruction that
  // brings `part` of a tile up to date in its twin, `place(t)` is operand t as its twin has it.
  template <class Place, class Copy> void apply(Recording& r, Place&& place, Copy&& copy) {
    std::vector<Recorded> out = r.rewritten();
    for (Recorded& c : r.code) {
      if (auto* product = std::get_if<isa::Mma>(&c.instruction)) {
        for (isa::TileRef* operand :
             {&product->a, &product->b, &product->a_scales, &product->b_scales}) {
          if (operand->empty() || twin(operand->id) == kNone) continue;
          refresh(*operand, [&](const isa::TileRef& part) { copy(out, c, part); });
          *operand = place(*operand);
        }
      } else {
        visit_tiles(c.instruction, [&](const isa::TileRef& t, isa::Access access, bool) {
          if (isa::writes(access)) written(t);
        });
      }
      out.push_back(std::move(c));
    }
    r.replace(std::move(out));
  }

 private:
  std::vector<uint32_t> twin_;
  std::vector<std::vector<isa::TileRef>> stale_;
};

}  // namespace daybreak::kernels
