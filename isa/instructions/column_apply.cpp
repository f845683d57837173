#include "isa/instructions/column_apply.hpp"

#include "isa/instructions/detail/arithmetic.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

Work ColumnApply::work() const {
  Work w;
  detail::elements(w, detail::class_of(function)) = to.elements();
  detail::add_operand_work(*this, w);
  return w;
}

void ColumnApply::execute(Context& c) const {
  detail::expect_shape(from, to.rows, to.cols, "operand", kName);
  if (columns.elements() != to.cols || (columns.rows != 1 && columns.cols != 1))
    detail::fail(kName, "row vector " + detail::describe(columns) + " must be 1x" +
                            std::to_string(to.cols) + " or " + std::to_string(to.cols) + "x1");
  const detail::VectorReader factors(c, columns, kName);
  detail::RowReader reader(c, from, kName);
  detail::RowWriter writer(c, to, kName);
  detail::with_arithmetic(function, [&](auto f) {
    const float* v = factors.data();
    const int64_t cols = to.cols;
    for (int64_t r = 0; r < to.rows; ++r) {
      const float* x = reader.row(r);
      float* y = writer.row(r);
#pragma GCC ivdep
      for (int64_t i = 0; i < cols; ++i) y[i] = f(x[i], v[i]);
      writer.store(r);
    }
  });
}

}  // namespace daybreak::isa
