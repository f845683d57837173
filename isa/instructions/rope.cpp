#include "isa/instructions/rope.hpp"

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

// Each output is two products and a sum.
Work Rope::work() const {
  Work w;
  detail::elements(w, VectorClass::simple) = 3 * to.elements();
  detail::add_operand_work(*this, w);
  return w;
}

void Rope::execute(Context& c) const {
  detail::expect_shape(from, to.rows, to.cols, "operand", kName);
  if (to.cols % 2)
    detail::fail(kName, detail::describe(to) + " must have an even number of columns");
  detail::expect_shape(angles, angles.rows == 1 ? 1 : to.rows, to.cols, "angles", kName);
  detail::RowReader reader(c, from, kName), turns(c, angles, kName);
  detail::RowWriter writer(c, to, kName);
  const int64_t half = to.cols / 2;
  const int64_t step = interleaved ? 2 : 1, partner = interleaved ? 1 : half;
  for (int64_t r = 0; r < to.rows; ++r) {
    const float* x = reader.row(r);
    const float* cosine = turns.row(angles.rows == 1 ? 0 : r);
    const float* sine = cosine + half;
    float* y = writer.row(r);
    for (int64_t i = 0; i < half; ++i) {
      const float a = x[i * step], b = x[i * step + partner];
      y[i * step] = a * cosine[i] - b * sine[i];
      y[i * step + partner] = b * cosine[i] + a * sine[i];
    }
    writer.store(r);
  }
}

}  // namespace daybreak::isa
