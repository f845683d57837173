#include "ref/compare/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace daybreak::ref {
namespace {

// Sums over the elements that are finite on both sides.
struct Sums {
  double got = 0, want = 0, error = 0;  // of squares
  double largest_want = 0, largest_error = 0;
};

Sums sums_of(std::span<const double> got, std::span<const double> want) {
  Sums s;
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    const double x = got[i], y = want[i];
    if (!std::isfinite(x) || !std::isfinite(y)) continue;
    s.got += x * x;
    s.want += y * y;
    s.error += (x - y) * (x - y);
    s.largest_want = std::max(s.largest_want, std::fabs(y));
    s.largest_error = std::max(s.largest_error, std::fabs(x - y));
  }
  return s;
}

double ratio(double error, double size) {
  if (error == 0) return 0;
  return size == 0 ? std::numeric_limits<double>::infinity() : error / size;
}

}  // namespace

double calc_diff(std::span<const double> got, std::span<const double> want) {
  const Sums s = sums_of(got, want);
  // The sum of squared errors is the same numerator without its cancellation.
  return ratio(s.error, s.got + s.want);
}

double rms_ratio(std::span<const double> got, std::span<const double> want) {
  const Sums s = sums_of(got, want);
  return ratio(std::sqrt(s.error), std::sqrt(s.want));
}

double peak_ratio(std::span<const double> got, std::span<const double> want) {
  const Sums s = sums_of(got, want);
  return ratio(s.largest_error, s.largest_want);
}

double round_digits(double value, int digits) {
  if (!std::isfinite(value) || value == 0) return value;
  return std::stod(fmt::format("{:.{}e}", value, digits - 1));
}

}  // namespace daybreak::ref
