#include "isa/instructions/exp2_rows.hpp"

#include "isa/instructions/detail/math.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

// One simple pass for the scaled difference, one special pass for the power.
Work Exp2Rows::work() const {
  Work w;
  detail::elements(w, VectorClass::simple) = to.elements();
  detail::elements(w, VectorClass::special) = to.elements();
  detail::add_operand_work(*this, w);
  return w;
}

void Exp2Rows::execute(Context& c) const {
  detail::expect_shape(from, to.rows, to.cols, "operand", kName);
  detail::expect_shape(max, to.rows, 1, "row maximum", kName);
  const detail::VectorReader maxima(c, max, kName);
  detail::RowReader reader(c, from, kName);
  detail::RowWriter writer(c, to, kName);
  const int64_t cols = to.cols;
  for (int64_t r = 0; r < to.rows; ++r) {
    const float* x = reader.row(r);
    float* y = writer.row(r);
    const float m = maxima[r], s = scale;
#pragma GCC ivdep
    for (int64_t i = 0; i < cols; ++i) y[i] = (x[i] - m) * s;
    detail::exp2(y, cols);
    writer.store(r);
  }
}

}  // namespace daybreak::isa
