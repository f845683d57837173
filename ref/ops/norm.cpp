#include "ref/ops/norm.hpp"

#include <bit>
#include <cmath>

#include <Eigen/Core>

#include "ref/ops/check.hpp"

namespace daybreak::ref {
namespace {

using Rows = Eigen::Array<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Rows rows_of(std::span<const float> x, size_t cols) {
  require(cols > 0 && x.size() % cols == 0, "a row-wise operator got a part of a row");
  Rows rows(x.size() / cols, cols);
  for (size_t i = 0; i < x.size(); ++i) rows.data()[i] = x[i];
  return rows;
}

std::vector<double> flat(const Rows& rows) { return {rows.data(), rows.data() + rows.size()}; }

Eigen::Array<double, 1, Eigen::Dynamic> vector_of(std::span<const float> x) {
  return Eigen::Map<const Eigen::Array<float, 1, Eigen::Dynamic>>(x.data(), x.size())
      .cast<double>();
}

}  // namespace

std::vector<double> rms_norm(std::span<const float> x, std::span<const float> weight,
                             double epsilon) {
  Rows rows = rows_of(x, weight.size());
  const auto scale = vector_of(weight);
  for (auto row : rows.rowwise()) row *= scale / std::sqrt(row.square().mean() + epsilon);
  return flat(rows);
}

std::vector<double> layer_norm(std::span<const float> x, std::span<const float> weight,
                               std::span<const float> bias, double epsilon) {
  require(bias.size() == weight.size(), "LayerNorm weight and bias differ in length");
  Rows rows = rows_of(x, weight.size());
  const auto scale = vector_of(weight), shift = vector_of(bias);
  for (auto row : rows.rowwise()) {
    row -= row.mean();
    row = row * (scale / std::sqrt(row.square().mean() + epsilon)) + shift;
  }
  return flat(rows);
}

std::vector<double> hadamard(std::span<const float> x, int64_t n) {
  require(n > 0 && (n & (n - 1)) == 0, "a Hadamard transform needs a power of two");
  // H[i, j] = (-1)^(common set bits of i and j): what the doubling [[H, H], [H, -H]] unrolls to.
  Eigen::MatrixXd matrix(n, n);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < n; ++j) matrix(i, j) = std::popcount(uint64_t(i & j)) % 2 == 0 ? 1 : -1;
  const Rows rows = rows_of(x, size_t(n));
  const Rows product = (rows.matrix() * matrix).array() / std::sqrt(double(n));
  return flat(product);
}

}  // namespace daybreak::ref
