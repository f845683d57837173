// Elementary functions of our own, so that results do not depend on a math library: polynomials in
// plain IEEE arithmetic, branch-free where they must vectorise.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>

namespace daybreak::isa::detail {

// The range in which exp2_inside() is right; a NaN passes.
inline float clamp_exponent(float x) {
  const float c = 128.0f < x ? 128.0f : x;
  return c < -151.0f ? -151.0f : c;
}

// 2^x for x in [-151, 128] or NaN: x = n + f with |f| <= 1/2, 2^f by a degree-6 polynomial fitted at
// Chebyshev nodes (its own error is 2^-27).
inline float exp2_inside(float x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = x + kRound;
  const float f = x - (shifted - kRound);
  const int32_t n = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(kRound);
  float p = 0x1.44400ap-13f;
  p = p * f + 0x1.5f0896p-10f;
  p = p * f + 0x1.3b2a1cp-7f;
  p = p * f + 0x1.c6af6cp-5f;
  p = p * f + 0x1.ebfbe0p-3f;
  p = p * f + 0x1.62e430p-1f;
  p = p * f + 1.0f;
  // Two factors, so that neither leaves the range of exponents and subnormal results round once.
  const int32_t half = n >> 1;
  const float low = std::bit_cast<float>(uint32_t(half + 127) << 23);
  const float high = std::bit_cast<float>(uint32_t(n - half + 127) << 23);
  return p * low * high;
}

// 2^x in fp32, relative error below 2^-22; underflow is gradual, -inf gives 0, +inf and x >= 128 give
// +inf, NaN stays NaN. Integers are exact.
inline float exp2(float x) { return exp2_inside(clamp_exponent(x)); }

// x[i] = 2^x[i]. Two loops, because a compiler that sees the bounds beside the polynomial makes branches
// of them and does not vectorise.
inline void exp2(float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = clamp_exponent(x[i]);
  for (int64_t i = 0; i < n; ++i) x[i] = exp2_inside(x[i]);
}

// 2^x in double for -1000 < x < 1000, relative error below 2^-49.
inline double exp2(double x) {
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
  const double shifted = x + kRound;
  const double f = x - (shifted - kRound);
  const int64_t n = std::bit_cast<int64_t>(shifted) - std::bit_cast<int64_t>(kRound);
  double p = 4.147295840084553e-10;
  p = p * f + 7.045855454634875e-09;
  p = p * f + 1.0179871878790436e-07;
  p = p * f + 1.32155940946177e-06;
  p = p * f + 1.5252730115378199e-05;
  p = p * f + 0.0001540353015041518;
  p = p * f + 0.0013333558149533076;
  p = p * f + 0.009618129107820783;
  p = p * f + 0.055504108664812146;
  p = p * f + 0.24022650695909692;
  p = p * f + 0.6931471805599451;
  p = p * f + 1.0;
  return p * std::bit_cast<double>((n + 1023) << 52);
}

inline constexpr double kLog2E = 1.4426950408889634;
inline constexpr double kLn2 = 0.6931471805599453;

// Natural logarithm in double, relative error below 2^-45 away from 1; 0 gives -inf, negative NaN.
// x = 2^e m with m in [1/sqrt 2, sqrt 2), ln m = 2 atanh((m - 1) / (m + 1)).
inline double ln(double x) {
  if (x != x || x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -std::numeric_limits<double>::infinity();
  if (x == std::numeric_limits<double>::infinity()) return x;
  int64_t e = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    e = -54;
  }
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  e += int64_t(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & ((uint64_t{1} << 52) - 1)) | (uint64_t{1023} << 52));
  if (m > 1.4142135623730951) {
    m *= 0.5;
    e += 1;
  }
  const double s = (m - 1) / (m + 1), z = s * s;
  double p = 0;
  for (int k = 21; k >= 3; k -= 2) p = (p + 1.0 / k) * z;
  return double(e) * kLn2 + 2 * (s + s * p);
}

// 1 / (1 + e^-x), from double arithmetic, rounded once.
inline double sigmoid(double x) {
  const double y = -x * kLog2E;
  const double c = y < 900 ? y : 900;
  const double s = 1 / (1 + exp2(c > -900 ? c : -900));
  return x != x ? x : s;
}
inline float sigmoid(float x) { return float(sigmoid(double(x))); }

// x * sigmoid(x); -inf gives -0.
inline float silu(float x) {
  if (x == -std::numeric_limits<float>::infinity()) return -0.0f;
  return float(double(x) * sigmoid(double(x)));
}

inline float tanh(float x) {
  const double d = x;
  if (d > -1e-3 && d < 1e-3)
    return float(d - d * d * d * (1.0 / 3));  // 2 sigmoid(2x) - 1 would cancel
  return x != x ? x : float(2 * sigmoid(2 * d) - 1);
}

}  // namespace daybreak::isa::detail
