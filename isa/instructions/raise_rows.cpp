#include "isa/instructions/raise_rows.hpp"

#include "isa/instructions/detail/reduce.hpp"

namespace daybreak::isa {

Work RaiseRows::work() const {
  Work w;
  detail::elements(w, VectorClass::reduce) = from.elements();
  detail::elements(w, VectorClass::simple) = from.rows;
  detail::add_operand_work(*this, w);
  return w;
}

void RaiseRows::execute(Context& c) const {
  detail::expect_shape(to, from.rows, 1, "new maximum", kName);
  detail::expect_shape(old, from.rows, 1, "old maximum", kName);
  const detail::VectorReader before(c, old, kName);
  detail::RowReader rows(c, from, kName);
  std::vector<float> values(from.rows);
  for (int64_t r = 0; r < from.rows; ++r) {
    const float m = detail::largest(rows.row(r), from.cols);
    values[r] = m > before[r] + slack ? m : before[r];
  }
  detail::write_vector(c, to, values, kName);
}

}  // namespace daybreak::isa
