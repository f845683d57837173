#include "ref/ops/rope.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ref/ops/check.hpp"

namespace daybreak::ref {
namespace {

// Index of the pair that turns `turns` times over the original positions.
double pair_with_turns(const RopeParameters& p, double turns) {
  return double(p.dim) * std::log(double(p.original_positions) / (2 * std::numbers::pi * turns)) /
         (2 * std::log(p.theta));
}

}  // namespace

std::vector<double> rope_frequencies(const RopeParameters& p) {
  require(p.dim > 0 && p.dim % 2 == 0, "RoPE needs an even number of columns");
  std::vector<double> frequencies(p.dim / 2);
  for (size_t i = 0; i < frequencies.size(); ++i)
    frequencies[i] = std::pow(p.theta, -2.0 * double(i) / double(p.dim));
  if (!p.yarn) return frequencies;

  double low = pair_with_turns(p, p.beta_fast), high = pair_with_turns(p, p.beta_slow);
  if (p.truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, double(p.dim - 1));
  if (low == high) high += 0.001;  // a step, not a division by zero
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double ramp = std::clamp((double(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] = frequencies[i] / p.factor * ramp + frequencies[i] * (1 - ramp);
  }
  return frequencies;
}

std::vector<double> rope_angles(std::span<const double> frequencies, int64_t position,
                                double magnitude) {
  const size_t pairs = frequencies.size();
  std::vector<double> angles(2 * pairs);
  for (size_t i = 0; i < pairs; ++i) {
    angles[i] = std::cos(double(position) * frequencies[i]) * magnitude;
    angles[pairs + i] = std::sin(double(position) * frequencies[i]) * magnitude;
  }
  return angles;
}

std::vector<double> rope(std::span<const float> x, std::span<const int64_t> positions,
                         std::span<const double> frequencies, RopeLayout layout, double magnitude) {
  const size_t pairs = frequencies.size(), dim = 2 * pairs;
  require(x.size() == positions.size() * dim, "RoPE got rows and positions that disagree");
  std::vector<double> out(x.size());
  for (size_t row = 0; row < positions.size(); ++row) {
    const std::vector<double> angles = rope_angles(frequencies, positions[row], magnitude);
    const float* from = x.data() + row * dim;
    double* to = out.data() + row * dim;
    for (size_t i = 0; i < pairs; ++i) {
      const bool pairwise = layout == RopeLayout::interleaved;
      const size_t a = pairwise ? 2 * i : i, b = pairwise ? 2 * i + 1 : i + pairs;
      to[a] = from[a] * angles[i] - from[b] * angles[pairs + i];
      to[b] = from[b] * angles[i] + from[a] * angles[pairs + i];
    }
  }
  return out;
}

}  // namespace daybreak::ref
