#include "isa/instructions/load.hpp"

#include <cstring>

#include "isa/instructions/detail/movement.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

Work Load::work() const { return {.read_bytes = to.bytes()}; }

void Load::execute(Context& c) const {
  detail::expect_format(c, to, from, kName);
  std::byte* base = detail::base_of(c, to, kName);
  const auto r = detail::clip(c, from, to.rows, to.cols, kName);
  if (!r.whole)
    for (int64_t i = 0; i < to.rows; ++i)
      std::memset(base + i * int64_t(to.pitch), 0, to.row_bytes());
  detail::read_rectangle(c, r, to, base);
}

void Load::for_each_segment(const Context& c, const SegmentSink& sink) const {
  detail::emit(detail::clip(c, from, to.rows, to.cols, kName), false, sink);
}

}  // namespace daybreak::isa
