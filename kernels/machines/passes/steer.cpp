#include "kernels/machines/passes/accesses.hpp"
#include "kernels/machines/passes/passes.hpp"

namespace daybreak::kernels {

namespace {

// Walks the program backwards. A tile is wanted while a live reader or a steering operand is ahead
// and no write of the whole tile has been met; memory is wanted by binding, for good.
class Slice {
 public:
  Slice(const Recording& r, const std::function<bool(uint16_t)>& needed)
      : r_(r), memory_(r.tensors), wanted_(r.tiles.size(), false) {
    for (const isa::TensorDesc& t : r.tensors) {
      if (t.binding >= wanted_bindings_.size()) wanted_bindings_.resize(t.binding + 1, false);
      wanted_bindings_[t.binding] = needed(t.binding);
    }
  }

  std::vector<bool> run() {
    std::vector<bool> live(r_.code.size(), false);
    for (size_t i = r_.code.size(); i-- > 0;) live[i] = visit(r_.code[i].instruction);
    return live;
  }

 private:
  bool visit(const isa::Instruction& instruction) {
    const bool live = is_live(instruction);
    if (live)
      visit_tiles(instruction, [&](const isa::TileRef& t, isa::Access access, bool) {
        if (access == isa::Access::write && whole(t)) wanted_[t.id] = false;
      });
    visit_tiles(instruction, [&](const isa::TileRef& t, isa::Access access, bool steers) {
      if (isa::reads(access) && (live || steers)) wanted_[t.id] = true;
    });
    memory_.visit(instruction, [&](const MemoryAccess& m) {
      if (isa::reads(m.access) && (live || m.steers)) wanted_bindings_[m.binding] = true;
    });
    return live;
  }
  bool is_live(const isa::Instruction& instruction) const {
    if (std::holds_alternative<isa::Signal>(instruction) ||
        std::holds_alternative<isa::Wait>(instruction) ||
        isa::queue_of(instruction) == isa::Queue::control)
      return true;
    bool live = false;
    visit_tiles(instruction, [&](const isa::TileRef& t, isa::Access access, bool) {
      live |= isa::writes(access) && wanted_[t.id];
    });
    memory_.visit(instruction, [&](const MemoryAccess& m) {
      live |= isa::writes(m.access) && wanted_bindings_[m.binding];
    });
    return live;
  }
  bool whole(const isa::TileRef& t) const {
    const VirtualTile& tile = r_.tiles[t.id];
    return t.rows == tile.rows && t.row_bytes() == tile.pitch;
  }

  const Recording& r_;
  MemoryVisitor memory_;
  std::vector<bool> wanted_, wanted_bindings_;
};

}  // namespace

std::vector<bool> live_entries(const Recording& r, const std::function<bool(uint16_t)>& needed) {
  if (!needed) return std::vector<bool>(r.code.size(), true);
  return Slice(r, needed).run();
}

}  // namespace daybreak::kernels
