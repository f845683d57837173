#include "isa/instructions/row_reduce.hpp"

#include "isa/instructions/detail/reduce.hpp"

namespace daybreak::isa {

Work RowReduce::work() const {
  Work w;
  detail::elements(w, VectorClass::reduce) = from.elements();
  detail::add_operand_work(*this, w);
  return w;
}

void RowReduce::execute(Context& c) const {
  detail::expect_shape(to, from.rows, 1, "result", kName);
  std::vector<float> values;
  if (function == Reduction::sum) {
    values = detail::row_sums(c, from, kName);
  } else {
    detail::RowReader rows(c, from, kName);
    for (int64_t r = 0; r < from.rows; ++r)
      values.push_back(detail::largest(rows.row(r), from.cols));
  }
  detail::write_vector(c, to, values, kName);
}

}  // namespace daybreak::isa
