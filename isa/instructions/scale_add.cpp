#include "isa/instructions/scale_add.hpp"

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

// Rounding twice makes it two passes.
Work ScaleAdd::work() const {
  Work w;
  detail::elements(w, VectorClass::simple) = 2 * to.elements();
  detail::add_operand_work(*this, w);
  return w;
}

void ScaleAdd::execute(Context& c) const {
  detail::elementwise(
      c, kName, to, [](float x, float f, float y) { return x * f + y; }, to, factor, addend);
}

}  // namespace daybreak::isa
