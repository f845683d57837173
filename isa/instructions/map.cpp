#include "isa/instructions/map.hpp"

#include "isa/instructions/detail/math.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

Work Map::work() const {
  Work w;
  const bool simple = function == Function::copy || function == Function::relu;
  detail::elements(w, simple ? VectorClass::simple : VectorClass::special) = to.elements();
  detail::add_operand_work(*this, w);
  return w;
}

void Map::execute(Context& c) const {
  const auto apply = [&](auto f) {
    detail::elementwise(
        c, kName, to, [f, k = factor](float x) { return f(x * k); }, from);
  };
  switch (function) {
    case Function::copy: return apply([](float x) { return x; });
    // NaN passes, -0 becomes +0.
    case Function::relu: return apply([](float x) { return x <= 0 ? 0.0f : x; });
    case Function::silu: return apply([](float x) { return detail::silu(x); });
    case Function::sigmoid: return apply([](float x) { return detail::sigmoid(x); });
    case Function::tanh: return apply([](float x) { return detail::tanh(x); });
    case Function::exp2: return apply([](float x) { return detail::exp2(x); });
  }
}

}  // namespace daybreak::isa
