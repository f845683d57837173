// Scales of quantisation groups (operators.md section 2, act_quant).
#include <algorithm>
#include <cmath>
#include <limits>

#include "ref/numeric/convert.hpp"

namespace daybreak::numeric {

float scale_of(float amax, ScaleRule rule) {
  if (std::isnan(amax)) return std::numeric_limits<float>::quiet_NaN();
  const float scale = std::max(amax, 1e-4f) / 448.0f;
  return rule == ScaleRule::plain ? scale : decode_e8m0(encode_e8m0_ceil(scale));
}

float quantise_group(std::span<const float> from, ScaleRule rule, uint8_t* to) {
  constexpr size_t kBlock = 128;
  float largest = 0;
  bool has_nan = false;
  for (float x : from) {
    const float a = std::fabs(x);
    largest = a > largest ? a : largest;
    has_nan |= x != x;
  }
  const float scale = scale_of(has_nan ? std::numeric_limits<float>::quiet_NaN() : largest, rule);
  float scaled[kBlock];
  for (size_t first = 0; first < from.size(); first += kBlock) {
    const size_t count = std::min(kBlock, from.size() - first);
    // encode_e4m3 saturates at 448, which is the clamp of the rule.
    for (size_t i = 0; i < count; ++i) scaled[i] = from[first + i] / scale;
    encode_e4m3(std::span<const float>(scaled, count), to + first);
  }
  return scale;
}

}  // namespace daybreak::numeric
