// The access logs of scratch, one block per allocated tile. A tile that takes over the bytes of
// dead ones inherits who touched them, so that recycling yields the waits it needs.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "isa/program/tile.hpp"
#include "kernels/machines/passes/access_log.hpp"

namespace daybreak::kernels {

class ScratchBlocks {
 public:
  explicit ScratchBlocks(size_t tiles) : block_of_(tiles, kNone) {}

  // The log of tile `id`, which occupies [begin, end) of `space`; made on first use.
  AccessLog& log(uint32_t id, isa::Space space, int64_t begin, int64_t end) {
    if (block_of_[id] == kNone) block_of_[id] = take_over(space, begin, end);
    return blocks_[block_of_[id]];
  }

 private:
  static constexpr uint32_t kNone = ~0u;
  struct Extent {
    int64_t begin, end;
    uint32_t block;
  };

  uint32_t take_over(isa::Space space, int64_t begin, int64_t end) {
    const uint32_t block = fresh();
    auto& list = extents_[int(space)];  // ascending, disjoint
    auto first =
        std::find_if(list.begin(), list.end(), [&](const Extent& e) { return e.end > begin; });
    Extent tail{0, 0, kNone};
    auto i = first;
    for (; i != list.end() && i->begin < end; ++i) {
      blocks_[block].inherit(blocks_[i->block], begin, end);
      if (i->end > end) tail = {end, i->end, i->block};
      if (i->begin < begin) {
        i->end = begin;
        if (tail.block == i->block) tail.block = copy(i->block);
        first = i + 1;
      } else if (tail.block != i->block) {
        free_.push_back(i->block);
      }
    }
    const auto at = list.erase(first, i) - list.begin();
    if (tail.block != kNone) list.insert(list.begin() + at, tail);
    list.insert(list.begin() + at, {begin, end, block});
    return block;
  }
  uint32_t fresh() {
    if (free_.empty()) {
      blocks_.emplace_back();
      return uint32_t(blocks_.size() - 1);
    }
    const uint32_t block = free_.back();
    free_.pop_back();
    blocks_[block].clear();
    return block;
  }
  uint32_t copy(uint32_t from) {
    const uint32_t to = fresh();
    blocks_[to] = blocks_[from];
    return to;
  }

  std::vector<uint32_t> block_of_;
  std::vector<AccessLog> blocks_;
  std::vector<uint32_t> free_;
  std::array<std::vector<Extent>, isa::kSpaces> extents_;
};

}  // namespace daybreak::kernels
