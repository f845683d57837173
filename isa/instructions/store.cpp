#include "isa/instructions/store.hpp"

#include "isa/instructions/detail/movement.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

Work Store::work() const { return {.write_bytes = from.bytes()}; }

void Store::execute(Context& c) const {
  detail::expect_format(c, from, to, kName);
  const auto r = detail::clip(c, to, from.rows, from.cols, kName);
  detail::write_rectangle(c, r, from, detail::base_of(c, from, kName));
}

void Store::for_each_segment(const Context& c, const SegmentSink& sink) const {
  detail::emit(detail::clip(c, to, from.rows, from.cols, kName), true, sink);
}

}  // namespace daybreak::isa
