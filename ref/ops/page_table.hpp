// The two-level page table (design.md section 3): logical positions of a request to physical rows.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace daybreak::ref {

struct PageTable {
  std::span<const int32_t> requests =
      {};                                // (requests, 4): first block entry, entries, generation, 0
  std::span<const int32_t> blocks = {};  // physical page of each block entry, -1 = unmapped
  int64_t page_tokens = 64;
};

// row = page * page_tokens + position % page_tokens, in 64 bits; -1 stays -1. Throws InvariantError
// for a position without a mapped page and for a row that does not fit int32.
std::vector<int32_t> translate_positions(std::span<const int32_t> positions, const PageTable& table,
                                         int64_t request);

}  // namespace daybreak::ref
