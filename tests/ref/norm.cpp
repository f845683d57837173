// Norms and the Hadamard rotation against loops in long double.
#include "ref/ops/norm.hpp"

#include "configs/reader/errors.hpp"
#include "tests/ref/tools.hpp"

namespace daybreak {
namespace {

using namespace ref;
using namespace testing;

TEST(Norm, RmsNormEqualsItsFormula) {
  Random random(1);
  for (const size_t cols : {1u, 3u, 64u, 512u, 7168u}) {
    const std::vector<float> x = random.normals(3 * cols, 5), weight = random.normals(cols);
    const std::vector<double> y = rms_norm(x, weight, 1e-6);
    ASSERT_EQ(y.size(), x.size());
    for (size_t row = 0; row < 3; ++row) {
      long double square = 0;
      for (size_t c = 0; c < cols; ++c)
        square += (long double)x[row * cols + c] * x[row * cols + c];
      for (size_t c = 0; c < cols; ++c) {
        const double want =
            double(x[row * cols + c] / std::sqrt(square / cols + 1e-6L) * weight[c]);
        ASSERT_NEAR(y[row * cols + c], want, 1e-13 * std::fabs(want));
      }
    }
  }
}

TEST(Norm, LayerNormEqualsItsFormula) {
  Random random(2);
  for (const size_t cols : {2u, 128u, 1000u}) {
    std::vector<float> x = random.normals(2 * cols);
    for (float& v : x) v += 10;
    const std::vector<float> weight = random.normals(cols), bias = random.normals(cols);
    const std::vector<double> y = layer_norm(x, weight, bias, 1e-6);
    for (size_t row = 0; row < 2; ++row) {
      long double mean = 0, square = 0;
      for (size_t c = 0; c < cols; ++c) mean += x[row * cols + c] / (long double)cols;
      for (size_t c = 0; c < cols; ++c) {
        const long double d = x[row * cols + c] - mean;
        square += d * d / (long double)cols;
      }
      for (size_t c = 0; c < cols; ++c)
        ASSERT_NEAR(
            y[row * cols + c],
            double((x[row * cols + c] - mean) / std::sqrt(square + 1e-6L) * weight[c] + bias[c]),
            1e-11);
    }
  }
}

TEST(Norm, ZeroRowsStayFinite) {
  const std::vector<float> x(128, 0.0f), weight(128, 1.0f), bias(128, 0.5f);
  for (const double v : rms_norm(x, weight, 1e-6)) EXPECT_EQ(v, 0);
  for (const double v : layer_norm(x, weight, bias, 1e-6)) EXPECT_EQ(v, 0.5);
}

// H_2n = [[H, H], [H, -H]] applied by halves.
void rotate(std::vector<double>& x, size_t first, size_t n) {
  if (n == 1) return;
  rotate(x, first, n / 2);
  rotate(x, first + n / 2, n / 2);
  for (size_t i = first; i < first + n / 2; ++i) {
    const double a = x[i], b = x[i + n / 2];
    x[i] = a + b;
    x[i + n / 2] = a - b;
  }
}

TEST(Hadamard, EqualsTheRecursion) {
  Random random(3);
  for (const size_t n : {1u, 2u, 4u, 64u, 128u, 512u}) {
    const std::vector<float> x = random.normals(2 * n);
    const std::vector<double> y = hadamard(x, int64_t(n));
    std::vector<double> want(x.begin(), x.end());
    rotate(want, 0, n);
    rotate(want, n, n);
    for (size_t i = 0; i < 2 * n; ++i)
      ASSERT_NEAR(y[i], want[i] / std::sqrt(double(n)), 1e-13 * double(n));
  }
}

TEST(Hadamard, TwiceIsTheIdentity) {
  Random random(4);
  const std::vector<float> x = random.normals(128);
  const std::vector<double> once = hadamard(x, 128);
  const std::vector<float> rounded(once.begin(), once.end());
  const std::vector<double> twice = hadamard(rounded, 128);
  for (size_t i = 0; i < 128; ++i) EXPECT_NEAR(twice[i], x[i], 1e-5);
}

TEST(Norm, ShapesThatDisagreeAreErrors) {
  const std::vector<float> x(10), weight(4), bias(3);
  EXPECT_THROW(rms_norm(x, weight, 1e-6), InvariantError);
  EXPECT_THROW(layer_norm(x, weight, bias, 1e-6), InvariantError);
  EXPECT_THROW(hadamard(x, 5), InvariantError);
  EXPECT_THROW(hadamard(x, 4), InvariantError);
}

}  // namespace
}  // namespace daybreak
