#include "isa/instructions/move.hpp"

#include <cstring>

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

// Every byte crosses the exchange path between scratchpads.
Work Move::work() const {
  Work w;
  w.accumulator_bytes = from.bytes();
  return w;
}

void Move::execute(Context& c) const {
  detail::expect_shape(from, to.rows, to.cols, "source", kName);
  if (from.format != to.format)
    detail::fail(kName,
                 detail::describe(from) + " and " + detail::describe(to) + " differ in format");
  const std::byte* x = detail::base_of(c, from, kName);
  std::byte* y = detail::base_of(c, to, kName);
  for (int64_t r = 0; r < to.rows; ++r)
    std::memmove(y + r * int64_t(to.pitch), x + r * int64_t(from.pitch), size_t(to.row_bytes()));
}

}  // namespace daybreak::isa
