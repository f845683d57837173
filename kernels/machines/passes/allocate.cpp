#include <algorithm>

#include "configs/reader/errors.hpp"
#include "kernels/machines/passes/accesses.hpp"
#include "kernels/machines/passes/passes.hpp"

namespace daybreak::kernels {

namespace {

constexpr uint32_t kAlign = 64;  // bytes

// The free parts of one scratchpad, ascending, never adjacent.
class FreeList {
 public:
  explicit FreeList(uint32_t size) : parts_{{0, size}} {}

  // Offset of the first part that holds `bytes`, or kFull.
  static constexpr uint32_t kFull = ~0u;
  uint32_t take(uint32_t bytes) {
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part& p = parts_[i];
      if (p.end - p.begin < bytes) continue;
      const uint32_t at = p.begin;
      p.begin += bytes;
      if (p.begin == p.end) parts_.erase(parts_.begin() + i);
      high_ = std::max(high_, at + bytes);
      return at;
    }
    return kFull;
  }
  void give(uint32_t begin, uint32_t end) {
    auto next =
        std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.begin >= end; });
    const bool joins_next = next != parts_.end() && next->begin == end;
    if (next != parts_.begin() && (next - 1)->end == begin) {
      auto before = next - 1;
      before->end = joins_next ? next->end : end;
      if (joins_next) parts_.erase(next);
    } else if (joins_next) {
      next->begin = begin;
    } else {
      parts_.insert(next, {begin, end});
    }
  }
  uint32_t high() const { return high_; }
  uint32_t available() const {
    uint32_t sum = 0;
    for (const Part& p : parts_) sum += p.end - p.begin;
    return sum;
  }

 private:
  struct Part {
    uint32_t begin, end;
  };
  std::vector<Part> parts_;
  uint32_t high_ = 0;
};

// Tiles of whole bank rows in the vector scratchpad take one step more, so that neighbours start in
// different banks: operands that start in one bank meet in it in every cycle.
constexpr uint32_t kBankRow = 512;
uint32_t padded(const VirtualTile& t) {
  const uint32_t bytes = (t.bytes() + kAlign - 1) / kAlign * kAlign;
  return t.space == isa::Space::vector && bytes > 0 && bytes % kBankRow == 0 ? bytes + kAlign
                                                                             : bytes;
}

constexpr uint32_t kUnlimited = 1u << 31;

[[noreturn]] void overflow(const Recording& r, uint32_t id, uint32_t i, uint32_t available,
                           Bytes size) {
  const VirtualTile& t = r.tiles[id];
  throw UserError("the " + std::string(name_of(t.space)) + " scratchpad of " +
                  std::to_string(size.value) + " bytes does not hold " + r.describe(id) + " at " +
                  r.names[r.code[i].body] + " step " + std::to_string(r.code[i].step) + ": " +
                  std::to_string(padded(t)) + " bytes needed, " + std::to_string(available) +
                  " available; a larger scratchpad is needed");
}

}  // namespace

std::array<Bytes, isa::kSpaces> allocate(Recording& r, const isa::Capabilities& chip) {
  std::vector<uint32_t> last(r.tiles.size(), 0);
  for (uint32_t i = 0; i < r.code.size(); ++i)
    visit_tiles(r.code[i].instruction, [&](isa::TileRef& t, isa::Access, bool) { last[t.id] = i; });

  std::vector<FreeList> spaces;
  for (Bytes size : chip.scratch)
    spaces.emplace_back(size.value > 0 ? uint32_t(std::min<int64_t>(size.value, kUnlimited))
                                       : kUnlimited);
  for (uint32_t i = 0; i < r.code.size(); ++i) {
    auto assign = [&](isa::TileRef& t, isa::Access, bool) {
      VirtualTile& tile = r.tiles[t.id];
      if (tile.offset == VirtualTile::kUnplaced) {
        FreeList& space = spaces[int(tile.space)];
        tile.offset = space.take(padded(tile));
        if (tile.offset == FreeList::kFull)
          overflow(r, t.id, i, space.available(), chip.scratch[int(tile.space)]);
      }
      t.offset += tile.offset;
      t.space = tile.space;
    };
    visit_tiles(r.code[i].instruction, assign);
    visit_tiles(r.code[i].instruction, [&](isa::TileRef& t, isa::Access, bool) {
      if (last[t.id] != i) return;
      last[t.id] = ~0u;  // an operand named twice dies once
      const VirtualTile& tile = r.tiles[t.id];
      spaces[int(tile.space)].give(tile.offset, tile.offset + padded(tile));
    });
  }
  std::array<Bytes, isa::kSpaces> high;
  for (int s = 0; s < isa::kSpaces; ++s) high[s] = Bytes(spaces[s].high());
  return high;
}

}  // namespace daybreak::kernels
