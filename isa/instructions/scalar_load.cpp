#include "isa/instructions/scalar_load.hpp"

#include "isa/instructions/detail/movement.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

Work ScalarLoad::work() const { return {.read_bytes = 4, .scalar_loads = 1}; }

// The program already depends on the word (its source read it when it made the task): here it must only
// be there.
void ScalarLoad::execute(Context& c) const {
  c.require_real(from);
  if (bits_of(c.tensor(from).format) != 32)
    detail::fail(kName, "tensor t" + std::to_string(from.tensor) + " must hold words of 4 bytes");
  const auto r = detail::clip(c, from, 1, 1, kName);
  if (r.rows && r.cols) c.memory.get<uint32_t>(Address(r.address(0)));
}

void ScalarLoad::for_each_segment(const Context& c, const SegmentSink& sink) const {
  detail::emit(detail::clip(c, from, 1, 1, kName), false, sink);
}

}  // namespace daybreak::isa
