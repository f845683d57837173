#include "isa/instructions/fill.hpp"

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

Work Fill::work() const {
  Work w;
  detail::elements(w, VectorClass::simple) = to.elements();
  detail::add_operand_work(*this, w);
  return w;
}

void Fill::execute(Context& c) const {
  detail::elementwise(c, kName, to, [v = value] { return v; });
}

}  // namespace daybreak::isa
