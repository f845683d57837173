#include "isa/instructions/row_apply.hpp"

#include "isa/instructions/detail/arithmetic.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

Work RowApply::work() const {
  Work w;
  detail::elements(w, detail::class_of(function)) = to.elements();
  detail::add_operand_work(*this, w);
  return w;
}

void RowApply::execute(Context& c) const {
  detail::expect_shape(from, to.rows, to.cols, "operand", kName);
  detail::expect_shape(rows, to.rows, 1, "column vector", kName);
  const detail::VectorReader factors(c, rows, kName);
  detail::RowReader reader(c, from, kName);
  detail::RowWriter writer(c, to, kName);
  detail::with_arithmetic(function, [&](auto f) {
    for (int64_t r = 0; r < to.rows; ++r) {
      const float* x = reader.row(r);
      float* y = writer.row(r);
      const float v = factors[r];
      const int64_t cols = to.cols;
      if (function == Arithmetic::divide && v == 0) {
        for (int64_t i = 0; i < cols; ++i) y[i] = when_zero;
      } else {
#pragma GCC ivdep
        for (int64_t i = 0; i < cols; ++i) y[i] = f(x[i], v);
      }
      writer.store(r);
    }
  });
}

}  // namespace daybreak::isa
