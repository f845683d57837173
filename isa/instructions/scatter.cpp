#include "isa/instructions/scatter.hpp"

#include "isa/instructions/detail/movement.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

namespace {

// The row of one slot; no rows for a negative one.
detail::Rectangle rectangle(const Context& c, const Scatter& s, int64_t entry, int64_t slot) {
  const TensorDesc& t = c.tensor(s.to);
  if (slot < 0) return {.tensor = &t};
  const int64_t row = detail::row_of_entry(t, s.to.row, slot, 1, entry, Scatter::kName);
  if (row < 0) return {.tensor = &t};
  return detail::clip(c, {s.to.tensor, row, s.to.col}, 1, s.from.cols, Scatter::kName);
}

}  // namespace

Work Scatter::work() const {
  return {.read_bytes = 4 * int64_t(from.rows),
          .write_bytes = from.bytes(),
          .index_entries = from.rows};
}

void Scatter::execute(Context& c) const {
  detail::expect_format(c, from, to, kName);
  const std::byte* base = detail::base_of(c, from, kName);
  const auto table = detail::read_words(c, slots, from.rows, -1, kName);
  TileRef one = from;
  one.rows = 1;
  for (size_t i = 0; i < table.size(); ++i)
    detail::write_rectangle(c, rectangle(c, *this, int64_t(i), table[i]), one,
                            base + int64_t(i) * int64_t(from.pitch));
}

void Scatter::for_each_segment(const Context& c, const SegmentSink& sink) const {
  detail::emit(detail::clip(c, slots, 1, from.rows, kName), false, sink);
  const auto table = detail::read_words(c, slots, from.rows, -1, kName);
  for (size_t i = 0; i < table.size(); ++i)
    detail::emit(rectangle(c, *this, int64_t(i), table[i]), true, sink);
}

}  // namespace daybreak::isa
