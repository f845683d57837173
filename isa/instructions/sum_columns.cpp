#include "isa/instructions/sum_columns.hpp"

#include "isa/instructions/detail/words.hpp"

namespace daybreak::isa {

Work SumColumns::work() const {
  Work w;
  detail::elements(w, VectorClass::simple) = int64_t(rows) * from.cols;
  return w;
}

void SumColumns::execute(Context& c) const {
  detail::expect_shape(sums, 1, from.cols, "sums", kName);
  if (rows < 0 || rows > int64_t(from.rows))
    detail::fail(kName, std::to_string(rows) + " rows of " + detail::describe(from));
  const detail::Words to(c, sums, kName), x(c, from, kName);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < from.cols; ++i) to.row(0)[i] += x.row(r)[i];
}

}  // namespace daybreak::isa
