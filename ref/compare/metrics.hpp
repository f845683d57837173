// Error metrics in double. Elements that are not finite on either side are left out: their
// positions are compared by the verdict. All are free of scale.
#pragma once
#include <span>

namespace daybreak::ref {

// 1 - 2 <x, y> / (<x, x> + <y, y>); 0 if both are zero.
double calc_diff(std::span<const double> got, std::span<const double> want);

// rms(got - want) / rms(want); 0 if both are zero, +inf if only `want` is.
double rms_ratio(std::span<const double> got, std::span<const double> want);

// max |got - want| / max |want|; 0 if both are zero, +inf if only `want` is.
double peak_ratio(std::span<const double> got, std::span<const double> want);

// Rounded to `digits` significant decimal digits.
double round_digits(double value, int digits = 3);

}  // namespace daybreak::ref
