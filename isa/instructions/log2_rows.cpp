#include "isa/instructions/log2_rows.hpp"

#include <limits>

#include "isa/instructions/detail/math.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

Work Log2Rows::work() const {
  Work w;
  detail::elements(w, VectorClass::special) = to.elements();
  detail::elements(w, VectorClass::simple) = 2 * to.elements();
  detail::add_operand_work(*this, w);
  return w;
}

// In double and rounded once: the two terms may cancel.
void Log2Rows::execute(Context& c) const {
  detail::elementwise(
      c, kName, to,
      [s = double(scale)](float m, float total) {
        if (total == 0) return std::numeric_limits<float>::infinity();
        return float(double(m) * s * detail::kLn2 + detail::ln(total));
      },
      max, sum);
}

}  // namespace daybreak::isa
