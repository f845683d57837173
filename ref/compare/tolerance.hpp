// Every tolerance the program uses, by name, in one table (operators.md section 10). A limit below
// zero is not checked. NaN, +inf and -inf must stand at the same places under every tolerance.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace daybreak::ref {

struct Tolerance {
  std::string_view name;
  bool exact = false;  // equal values; -0 equals +0
  // An element passes if |got - want| <= absolute, <= relative * |want| or <= floor * max |want|;
  // the floor is for sums that cancel.
  double absolute = -1;
  double relative = -1;
  double floor = -1;
  // Limits of metrics over the whole tensor, all free of scale (compare/metrics.hpp).
  double calc_diff = -1;
  double rms_ratio = -1;
  double peak_ratio = -1;
  std::string_view source = {};

  // "abs 0.001 or rel 0.0157, calc_diff 5e-06".
  std::string text() const;
};

std::span<const Tolerance> tolerances();

// Throws InvariantError for a name that is not in the table.
const Tolerance& tolerance(std::string_view name);

}  // namespace daybreak::ref
