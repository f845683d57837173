#include "ref/compare/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "ref/compare/metrics.hpp"

namespace daybreak::ref {
namespace {

// What an element is before its size matters.
enum class Kind : uint8_t { finite, nan, positive_infinity, negative_infinity };

Kind kind_of(double x) {
  if (std::isnan(x)) return Kind::nan;
  if (std::isinf(x)) return x > 0 ? Kind::positive_infinity : Kind::negative_infinity;
  return Kind::finite;
}

// Error over what is allowed, at most 1 for an element that passes. `largest` is max |want|. Kinds
// that differ are infinitely wrong.
double severity(double got, double want, double largest, const Tolerance& t) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (kind_of(got) != kind_of(want)) return kInfinity;
  const double error = kind_of(got) == Kind::finite ? std::fabs(got - want) : 0;
  if (error == 0) return 0;
  if (t.exact) return kInfinity;
  if (t.absolute < 0 && t.relative < 0 && t.floor < 0) return 0;
  const double allowed = std::max({t.absolute, t.relative * std::fabs(want), t.floor * largest});
  return allowed > 0 ? error / allowed : kInfinity;
}

struct Worst {
  int64_t index = -1;
  double severity = 0;
};

// The element to show: the most severe, then the largest error, then the first.
Worst worst_element(std::span<const double> got, std::span<const double> want, const Tolerance& t) {
  double largest = 0;
  for (const double x : want)
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  Worst worst;
  double worst_error = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double s = severity(got[i], want[i], largest, t);
    const bool finite = kind_of(got[i]) == Kind::finite && kind_of(want[i]) == Kind::finite;
    const double error = finite ? std::fabs(got[i] - want[i]) : 0;
    if (s > worst.severity || (s == worst.severity && error > worst_error)) {
      worst = {int64_t(i), s};
      worst_error = error;
    }
  }
  return worst;
}

void add_metric(Verdict& verdict, const char* name, double value, double limit) {
  if (limit < 0) return;
  verdict.metrics.push_back({name, round_digits(value), limit});
  if (value > limit || std::isnan(value)) {
    verdict.pass = false;
    if (verdict.finding.empty())
      verdict.finding = fmt::format("{} {:.3g} is above {:.3g}", name, value, limit);
  }
}

template <class T> std::vector<double> widened(std::span<const T> values) {
  return {values.begin(), values.end()};
}

template <class T>
Verdict exact(std::string name, std::span<const T> got, std::span<const T> want) {
  return compare(std::move(name), std::span<const double>(widened(got)),
                 std::span<const double>(widened(want)), tolerance("exact"));
}

}  // namespace

Verdict compare(std::string name, std::span<const double> got, std::span<const double> want,
                const Tolerance& t) {
  Verdict verdict{.name = std::move(name),
                  .pass = true,
                  .metrics = {},
                  .tolerance = t.text(),
                  .elements = int64_t(want.size()),
                  .finding = {}};
  if (got.size() != want.size()) {
    verdict.pass = false;
    verdict.finding = fmt::format("{} elements where {} are wanted", got.size(), want.size());
    return verdict;
  }
  const Worst worst = worst_element(got, want, t);
  verdict.worst = worst.index;
  if (verdict.worst >= 0) {
    verdict.got = got[verdict.worst];
    verdict.want = want[verdict.worst];
    if (worst.severity > 1) {
      verdict.pass = false;
      verdict.finding = fmt::format("element {} is {:.6g} where {:.6g} is wanted", verdict.worst,
                                    verdict.got, verdict.want);
    }
  }
  add_metric(verdict, "calc_diff", calc_diff(got, want), t.calc_diff);
  add_metric(verdict, "rms", rms_ratio(got, want), t.rms_ratio);
  add_metric(verdict, "peak", peak_ratio(got, want), t.peak_ratio);
  return verdict;
}

Verdict compare(std::string name, std::span<const float> got, std::span<const float> want,
                const Tolerance& t) {
  return compare(std::move(name), std::span<const double>(widened(got)),
                 std::span<const double>(widened(want)), t);
}

Verdict compare(std::string name, std::span<const float> got, std::span<const double> want,
                const Tolerance& t) {
  return compare(std::move(name), std::span<const double>(widened(got)), want, t);
}

Verdict compare_exact(std::string name, std::span<const int32_t> got,
                      std::span<const int32_t> want) {
  return exact(std::move(name), got, want);
}

Verdict compare_exact(std::string name, std::span<const uint8_t> got,
                      std::span<const uint8_t> want) {
  return exact(std::move(name), got, want);
}

}  // namespace daybreak::ref
