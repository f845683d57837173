#include "isa/instructions/fma.hpp"

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

// Rounding twice makes it two passes.
Work Fma::work() const {
  Work w;
  detail::elements(w, VectorClass::simple) = 2 * to.elements();
  detail::add_operand_work(*this, w);
  return w;
}

void Fma::execute(Context& ctx) const {
  detail::elementwise(
      ctx, kName, to, [](float x, float y, float z) { return x * y + z; }, a, b, c);
}

}  // namespace daybreak::isa
