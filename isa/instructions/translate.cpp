#include "isa/instructions/translate.hpp"

#include <limits>

#include "isa/instructions/detail/movement.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

namespace {

// Both levels of the page table, as one request sees them.
class PageTable {
 public:
  PageTable(const Context& c, const Translate& t) : t_(t), blocks_(c.tensor(t.blocks)) {
    if (t.page_tokens <= 0)
      detail::fail(Translate::kName, "a page of " + std::to_string(t.page_tokens) + " tokens");
    if (t.blocks.row < 0 || t.blocks.row >= blocks_.rows() || blocks_.format != Format::i32)
      detail::fail(Translate::kName, "tensor t" + std::to_string(t.blocks.tensor) +
                                         " has no row of i32 block entries");
    c.require_real(t.blocks);
    base_ = c.binding(t.blocks).base.value;
    const TensorRef at{t.requests.tensor, t.requests.row + t.request, t.requests.col};
    const auto words = detail::read_words(c, at, 4, 0, Translate::kName);
    first_ = words[0];
    entries_ = words[1];
    generation_ = words[2];
  }
  int32_t generation() const { return generation_; }
  // Address of the block entry that a position needs.
  Address entry(int64_t position) const {
    const int64_t b = position / t_.page_tokens, col = t_.blocks.col + first_ + b;
    if (b >= entries_ || col < 0 || col >= blocks_.cols())
      detail::fail(Translate::kName, "position " + std::to_string(position) + " of request " +
                                         std::to_string(t_.request) + " needs block " +
                                         std::to_string(b) + ", its page table has " +
                                         std::to_string(entries_));
    return Address(base_ + uint64_t(blocks_.offset_of(t_.blocks.row, col)));
  }

 private:
  const Translate& t_;
  const TensorDesc& blocks_;
  uint64_t base_ = 0;
  int64_t first_ = 0, entries_ = 0;
  int32_t generation_ = 0;
};

std::vector<int32_t> logical(const Context& c, const Translate& t) {
  auto positions = detail::read_words(c, t.positions, t.count, -1, Translate::kName);
  for (int32_t p : positions)
    if (p < -1)
      detail::fail(Translate::kName,
                   "position " + std::to_string(p) + "; positions from 0 on and -1 are allowed");
  return positions;
}

void write_words(Context& c, const TensorRef& to, std::span<const int32_t> words) {
  const auto r = detail::clip(c, to, 1, int64_t(words.size()), Translate::kName);
  if (r.rows && r.cols)
    c.memory.write(Address(r.address(0)),
                   std::as_bytes(words.subspan(size_t(r.tile_col), size_t(r.cols))));
}

}  // namespace

// On the control processor: the request entry once, then per position its word, its block entry and the
// four operations divide, multiply, add, store.
Work Translate::work() const {
  const int64_t n = count;
  return {.read_bytes = 4 * n,
          .write_bytes = 4 * n + (generation.empty() ? 0 : 8),
          .translations = n,
          .scalar_ops = on_control ? 4 * n : 0,
          .scalar_loads = on_control ? 2 * n + 1 : 0};
}

void Translate::execute(Context& c) const {
  const PageTable table(c, *this);
  auto rows = logical(c, *this);
  for (int32_t& row : rows) {
    if (row < 0) continue;
    const int64_t p = row;
    const int64_t page = c.memory.get<int32_t>(table.entry(p));
    if (page < 0)
      detail::fail(kName, "page fault: position " + std::to_string(p) + " of request " +
                              std::to_string(request) + " is not mapped");
    const int64_t physical = page * page_tokens + p % page_tokens;
    if (physical > std::numeric_limits<int32_t>::max())
      detail::fail(kName, "row " + std::to_string(physical) + " of page " + std::to_string(page) +
                              " does not fit int32");
    row = int32_t(physical);
  }
  write_words(c, to, rows);
  if (generation.empty()) return;
  const int32_t stamp[] = {table.generation(), request};
  write_words(c, generation, stamp);
}

void Translate::for_each_segment(const Context& c, const SegmentSink& sink) const {
  detail::emit(detail::clip(c, positions, 1, count, kName), false, sink);
  detail::emit(detail::clip(c, to, 1, count, kName), true, sink);
  if (!generation.empty()) detail::emit(detail::clip(c, generation, 1, 2, kName), true, sink);
}

Address Translate::request_entry(const Context& c) const { return c.address(requests, request, 0); }

void Translate::for_each_walk(const Context& c, const std::function<void(Address)>& sink) const {
  const PageTable table(c, *this);
  for (int32_t p : logical(c, *this))
    if (p >= 0) sink(table.entry(p));
}

}  // namespace daybreak::isa
