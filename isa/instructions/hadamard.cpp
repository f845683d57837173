#include "isa/instructions/hadamard.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

// log2 n butterfly passes and one for the factor.
Work Hadamard::work() const {
  Work w;
  const int64_t passes = to.cols ? std::bit_width(to.cols) - 1 : 0;
  detail::elements(w, VectorClass::simple) = (passes + 1) * to.elements();
  detail::add_operand_work(*this, w);
  return w;
}

// Butterflies in Sylvester order, distance 1 first, then the factor 1 / sqrt(n).
void Hadamard::execute(Context& c) const {
  detail::expect_shape(from, to.rows, to.cols, "operand", kName);
  const int64_t n = to.cols;
  if (!std::has_single_bit(to.cols))
    detail::fail(kName, detail::describe(to) + " must have a power of two columns");
  detail::RowReader reader(c, from, kName);
  detail::RowWriter writer(c, to, kName);
  const float factor = 1.0f / std::sqrt(float(n));
  std::vector<float> v(size_t(n), 0.0f);
  for (int64_t r = 0; r < to.rows; ++r) {
    std::memcpy(v.data(), reader.row(r), size_t(n) * 4);
    for (int64_t h = 1; h < n; h *= 2)
      for (int64_t i = 0; i < n; i += 2 * h) {
        float* low = v.data() + i;
        float* high = low + h;
#pragma GCC ivdep
        for (int64_t j = 0; j < h; ++j) {
          const float a = low[j], b = high[j];
          low[j] = a + b;
          high[j] = a - b;
        }
      }
    float* y = writer.row(r);
    for (int64_t i = 0; i < n; ++i) y[i] = v[i] * factor;
    writer.store(r);
  }
}

}  // namespace daybreak::isa
