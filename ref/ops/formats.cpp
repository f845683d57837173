// Values of the element formats, from their definitions: sign * fraction * 2^exponent.
#include "ref/ops/formats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace daybreak::ref {
namespace {

constexpr double power_of_two(int exponent) {
  double value = 1;
  for (; exponent > 0; --exponent) value *= 2;
  for (; exponent < 0; ++exponent) value /= 2;
  return value;
}

constexpr std::array<float, 256> make_e4m3() {
  std::array<float, 256> table{};
  for (int code = 0; code < 256; ++code) {
    const int exponent = code / 8 % 16, fraction = code % 8;
    double value =
        exponent == 0 ? fraction * power_of_two(-9) : (8 + fraction) * power_of_two(exponent - 10);
    if (exponent == 15 && fraction == 7) value = std::numeric_limits<double>::quiet_NaN();
    table[code] = float(code < 128 ? value : -value);
  }
  return table;
}

}  // namespace

constinit const std::array<float, 256> kE4m3Values = make_e4m3();

float e8m0_value(uint8_t byte) {
  return byte == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, byte - 127);
}

float e2m1_value(uint8_t code) {
  const int exponent = code / 2 % 4, fraction = code % 2;
  const float value =
      exponent == 0 ? 0.5f * fraction : std::ldexp(1 + 0.5f * fraction, exponent - 1);
  return code & 8 ? -value : value;
}

uint8_t nearest_e4m3(float x) {
  if (std::isnan(x)) return 0x7F;
  const int sign = std::signbit(x) ? 128 : 0;
  const double magnitude = std::fabs(double(x));
  if (magnitude >= 448) return uint8_t(sign | 0x7E);
  // Steps of the binade: 2^(e - 3), and 2^-9 below the smallest normal. nearbyint ties to even.
  const int exponent = magnitude < 0.015625 ? -6 : std::ilogb(magnitude);
  const int steps = int(std::nearbyint(std::ldexp(magnitude, 3 - exponent)));
  const int code = (exponent + 6) * 8 + steps;  // steps 8..15 of a normal binade carry its exponent
  return uint8_t(sign | std::min(code, 0x7E));
}

std::vector<float> bf16_values(std::span<const uint16_t> bits) {
  std::vector<float> values(bits.size());
  std::ranges::transform(bits, values.begin(), &bf16_value);
  return values;
}

std::vector<float> e4m3_values(std::span<const uint8_t> codes) {
  std::vector<float> values(codes.size());
  std::ranges::transform(codes, values.begin(), e4m3_value);
  return values;
}

std::vector<uint16_t> nearest_bf16(std::span<const double> x) {
  std::vector<uint16_t> bits(x.size());
  std::ranges::transform(x, bits.begin(), [](double v) { return nearest_bf16(float(v)); });
  return bits;
}

}  // namespace daybreak::ref
