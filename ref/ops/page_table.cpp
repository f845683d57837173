#include "ref/ops/page_table.hpp"

#include <limits>

#include <fmt/format.h>

#include "ref/ops/check.hpp"

namespace daybreak::ref {

std::vector<int32_t> translate_positions(std::span<const int32_t> positions, const PageTable& table,
                                         int64_t request) {
  require(table.page_tokens > 0, "a page holds at least one token");
  require(request >= 0 && request < int64_t(table.requests.size() / 4),
          "the request is not in the page table");
  const int64_t first = table.requests[4 * request], entries = table.requests[4 * request + 1];
  std::vector<int32_t> rows;
  rows.reserve(positions.size());
  for (const int64_t position : positions) {
    if (position == -1) {
      rows.push_back(-1);
      continue;
    }
    const int64_t entry = first + position / table.page_tokens;
    const bool known = position >= 0 && position / table.page_tokens < entries && entry >= 0 &&
                       entry < int64_t(table.blocks.size());
    if (!known || table.blocks[entry] < 0)
      throw InvariantError(
          fmt::format("reference: position {} of request {} has no page", position, request));
    const int64_t row = table.blocks[entry] * table.page_tokens + position % table.page_tokens;
    if (row > std::numeric_limits<int32_t>::max())
      throw InvariantError(fmt::format(
          "reference: row {} of position {} does not fit an index table of int32", row, position));
    rows.push_back(int32_t(row));
  }
  return rows;
}

}  // namespace daybreak::ref
