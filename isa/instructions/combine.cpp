#include "isa/instructions/combine.hpp"

#include "isa/instructions/detail/arithmetic.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

Work Combine::work() const {
  Work w;
  detail::elements(w, detail::class_of(function)) = to.elements();
  detail::add_operand_work(*this, w);
  return w;
}

void Combine::execute(Context& c) const {
  detail::with_arithmetic(function, [&](auto f) { detail::elementwise(c, kName, to, f, a, b); });
}

}  // namespace daybreak::isa
