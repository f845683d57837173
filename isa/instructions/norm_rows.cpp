#include "isa/instructions/norm_rows.hpp"

#include <cmath>

#include "isa/instructions/detail/reduce.hpp"

namespace daybreak::isa {

// A sum of squares, two passes for factor and weight, one root per row; LayerNorm adds a sum, a
// subtraction and the bias.
Work NormRows::work() const {
  Work w;
  const int64_t n = from.elements(), passes = centre ? 2 : 1;
  detail::elements(w, VectorClass::reduce) = passes * n;
  detail::elements(w, VectorClass::simple) = (1 + passes + (bias.empty() ? 0 : 1)) * n;
  detail::elements(w, VectorClass::special) = from.rows;
  detail::add_operand_work(*this, w);
  return w;
}

// Sums ascend in fp32; 1 / sqrt is two correctly rounded operations.
void NormRows::execute(Context& c) const {
  detail::expect_shape(from, to.rows, to.cols, "operand", kName);
  detail::expect_shape(weight, 1, to.cols, "weight", kName);
  if (!bias.empty()) detail::expect_shape(bias, 1, to.cols, "bias", kName);
  const detail::VectorReader weights(c, weight, kName);
  const bool biased = !bias.empty();
  const detail::VectorReader biases(c, biased ? bias : weight, kName);
  detail::RowReader reader(c, from, kName);
  detail::RowWriter writer(c, to, kName);
  const int64_t n = to.cols;
  std::vector<float> centred(size_t(n), 0.0f);
  for (int64_t r = 0; r < to.rows; ++r) {
    const float* x = reader.row(r);
    float mean = 0;
    if (centre) {
      for (int64_t i = 0; i < n; ++i) mean += x[i];
      mean /= float(n);
    }
    for (int64_t i = 0; i < n; ++i) centred[i] = centre ? x[i] - mean : x[i];
    float square = 0;
    for (int64_t i = 0; i < n; ++i) square += centred[i] * centred[i];
    const float factor = 1.0f / std::sqrt(square / float(n) + epsilon);
    float* y = writer.row(r);
    for (int64_t i = 0; i < n; ++i) {
      y[i] = centred[i] * factor * weights[i];
      if (biased) y[i] += biases[i];
    }
    writer.store(r);
  }
}

}  // namespace daybreak::isa
