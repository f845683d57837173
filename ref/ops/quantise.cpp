#include "ref/ops/quantise.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ref/ops/check.hpp"
#include "ref/ops/formats.hpp"

namespace daybreak::ref {
namespace {

// 2^ceil(log2(x)) within the range of E8M0. frexp: x = fraction * 2^exponent, fraction in [1/2, 1).
float power_of_two_above(double x) {
  if (std::isinf(x)) return std::ldexp(1.0f, 127);
  int exponent = 0;
  const double fraction = std::frexp(x, &exponent);
  if (fraction == 0.5) --exponent;
  return std::ldexp(1.0f, std::clamp(exponent, -127, 127));
}

float group_scale(std::span<const float> group, ScaleForm form) {
  float amax = 1e-4f;
  for (float x : group) {
    if (std::isnan(x)) return std::numeric_limits<float>::quiet_NaN();
    amax = std::max(amax, std::fabs(x));
  }
  return form == ScaleForm::plain ? amax / 448 : power_of_two_above(double(amax) / 448);
}

}  // namespace

Quantised act_quant(std::span<const float> x, int64_t cols, ScaleForm form, int64_t group) {
  require(cols > 0 && group > 0 && int64_t(x.size()) % cols == 0,
          "act_quant got a part of a row or an empty group");
  Quantised result;
  result.codes.reserve(x.size());
  for (size_t row = 0; row < x.size(); row += cols) {
    for (int64_t first = 0; first < cols; first += group) {
      const auto part = x.subspan(row + first, std::min(group, cols - first));
      const float scale = group_scale(part, form);
      result.scales.push_back(scale);
      for (float v : part) result.codes.push_back(nearest_e4m3(v / scale));
    }
  }
  return result;
}

std::array<uint8_t, kRecordBytes> encode_record(std::span<const float> latent,
                                                std::span<const uint16_t> rope, ScaleForm form) {
  require(latent.size() == kLatentDim && rope.size() == kRopeDim,
          "a KV record holds 512 latent and 64 rope values");
  const Quantised quantised = act_quant(latent, kLatentDim, form);
  std::array<uint8_t, kRecordBytes> record;
  std::memcpy(record.data(), quantised.codes.data(), 512);
  std::memcpy(record.data() + 512, quantised.scales.data(), 16);
  std::memcpy(record.data() + 528, rope.data(), 128);
  return record;
}

void decode_record(const uint8_t* record, float* to) {
  float scales[4];
  uint16_t rope[kRopeDim];
  std::memcpy(scales, record + 512, sizeof scales);
  std::memcpy(rope, record + 528, sizeof rope);
  for (int64_t i = 0; i < kLatentDim; ++i) to[i] = e4m3_value(record[i]);
  for (int64_t i = 0; i < kLatentDim; ++i)
    to[i] = bf16_value(nearest_bf16(to[i] * scales[i / 128]));
  for (int64_t i = 0; i < kRopeDim; ++i) to[kLatentDim + i] = bf16_value(rope[i]);
}

}  // namespace daybreak::ref
