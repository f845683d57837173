#include "isa/instructions/cast.hpp"

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

Work Cast::work() const {
  Work w;
  detail::elements(w, VectorClass::cast) = to.elements();
  detail::add_operand_work(*this, w, false);
  return w;
}

void Cast::execute(Context& c) const {
  detail::elementwise(
      c, kName, to, [](float x) { return x; }, from);
}

}  // namespace daybreak::isa
