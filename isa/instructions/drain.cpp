#include "isa/instructions/drain.hpp"

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

Work Drain::work() const {
  Work w;
  w.drain_elements = from.elements();
  return w;
}

void Drain::execute(Context& c) const {
  if (from.space != Space::accumulator)
    detail::fail(kName, "source " + detail::describe(from) + " must be in the accumulator");
  detail::elementwise(
      c, kName, to, [](float x) { return x; }, from);
}

}  // namespace daybreak::isa
