#include "isa/instructions/gather.hpp"

#include <cstring>

#include "isa/instructions/detail/movement.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

namespace {

int64_t entries(const Gather& g) {
  if (g.rows_per_entry <= 0 || g.to.rows % uint32_t(g.rows_per_entry))
    detail::fail(Gather::kName, std::to_string(g.rows_per_entry) +
                                    " rows per entry must divide the " + std::to_string(g.to.rows) +
                                    " rows of the tile");
  return g.to.rows / uint32_t(g.rows_per_entry);
}

// The rows of one entry; no rows for a skipped one.
detail::Rectangle rectangle(const Context& c, const Gather& g, int64_t entry, int64_t index) {
  const TensorDesc& t = c.tensor(g.from);
  const int64_t row =
      detail::row_of_entry(t, g.from.row, index, g.rows_per_entry, entry, Gather::kName);
  if (row < 0) return {.tensor = &t};
  return detail::clip(c, {g.from.tensor, row, g.from.col}, g.rows_per_entry, g.to.cols,
                      Gather::kName);
}

// An index table built before the page table changed names rows of somebody else.
void refuse_stale(const Context& c, const Gather& g) {
  const auto stamp = detail::read_words(c, g.generation, 2, -1, Gather::kName);
  const TensorRef entry{g.requests.tensor, g.requests.row + stamp[1], g.requests.col + 2};
  const int32_t now = detail::read_words(c, entry, 1, -1, Gather::kName)[0];
  if (now != stamp[0])
    detail::fail(Gather::kName, "stale index table of request " + std::to_string(stamp[1]) +
                                    ": built at generation " + std::to_string(stamp[0]) +
                                    ", the page table is at generation " + std::to_string(now));
}

}  // namespace

// A software gather reads each index on the control processor; a receiver asks for nothing.
Work Gather::work() const {
  if (receives()) return {};
  const int64_t n = rows_per_entry > 0 ? to.rows / uint32_t(rows_per_entry) : 0;
  return {.read_bytes = to.bytes() + 4 * n,
          .index_entries = software ? 0 : n,
          .scalar_loads = software ? n : 0};
}

void Gather::execute(Context& c) const {
  detail::expect_format(c, to, from, kName);
  if (sharing < 0 || sharing > int32_t(Sharing::receives))
    detail::fail(kName, "sharing is " + std::to_string(sharing) + ", not 0, 1 or 2");
  std::byte* base = detail::base_of(c, to, kName);
  if (!generation.empty()) refuse_stale(c, *this);
  const auto table = detail::read_words(c, index, entries(*this), -1, kName);
  const int64_t pitch = to.pitch, bytes = to.row_bytes();
  TileRef group = to;
  group.rows = uint32_t(rows_per_entry);
  for (size_t i = 0; i < table.size(); ++i) {
    std::byte* at = base + int64_t(i) * rows_per_entry * pitch;
    const auto r = rectangle(c, *this, int64_t(i), table[i]);
    if (r.rows != rows_per_entry || r.cols != int64_t(to.cols))
      for (int64_t j = 0; j < rows_per_entry; ++j) std::memset(at + j * pitch, 0, size_t(bytes));
    detail::read_rectangle(c, r, group, at);
  }
}

void Gather::for_each_segment(const Context& c, const SegmentSink& sink) const {
  const int64_t n = entries(*this);
  detail::emit(detail::clip(c, index, 1, n, kName), false, sink);
  const auto table = detail::read_words(c, index, n, -1, kName);
  for (int64_t i = 0; i < n; ++i) detail::emit(rectangle(c, *this, i, table[i]), false, sink);
}

}  // namespace daybreak::isa
