// act_quant and the KV record: scales by their definition, error bounds, byte layout.
#include "ref/ops/quantise.hpp"

#include <algorithm>
#include <cstring>

#include "configs/reader/errors.hpp"
#include "ref/ops/formats.hpp"
#include "tests/ref/tools.hpp"

namespace daybreak {
namespace {

using namespace ref;
using namespace testing;

TEST(ActQuant, ScalesAndErrors) {
  Random random(1);
  const std::vector<float> x = random.normals(7 * 512, 30);
  for (const ScaleForm form : {ScaleForm::plain, ScaleForm::ue8m0_ceil}) {
    const Quantised q = act_quant(x, 512, form);
    ASSERT_EQ(q.codes.size(), x.size());
    ASSERT_EQ(q.scales.size(), 28u);
    for (size_t group = 0; group < 28; ++group) {
      float amax = 0;
      for (size_t i = 0; i < 128; ++i) amax = std::max(amax, std::fabs(x[group * 128 + i]));
      const double s = q.scales[group], exact = double(amax) / 448;
      if (form == ScaleForm::plain) {
        EXPECT_NEAR(s, exact, exact * 1e-7);
      } else {
        EXPECT_EQ(std::log2(s), std::ceil(std::log2(exact)));
      }
      for (size_t i = 0; i < 128; ++i) {
        const double value = e4m3_value(q.codes[group * 128 + i]) * s, want = x[group * 128 + i];
        // Half a step: 2^-4 of the value, or half a subnormal step.
        ASSERT_LE(std::fabs(value - want), std::max(std::fabs(want) / 16, s * 0x1p-10) * 1.0001);
      }
    }
  }
}

TEST(ActQuant, TinyRowsUseTheClamp) {
  const std::vector<float> x(128, 1e-6f);
  EXPECT_EQ(act_quant(x, 128, ScaleForm::plain).scales[0], 1e-4f / 448);
  EXPECT_EQ(act_quant(x, 128, ScaleForm::ue8m0_ceil).scales[0], 0x1p-22f);
}

TEST(ActQuant, PowerOfTwoScalesTurnAt448) {
  for (int k = -20; k < 100; ++k) {
    const float edge = std::ldexp(448.0f, k);
    const auto scale = [](float x) {
      return act_quant(std::vector<float>{x}, 1, ScaleForm::ue8m0_ceil).scales[0];
    };
    EXPECT_EQ(scale(edge), std::ldexp(1.0f, k));
    EXPECT_EQ(scale(-std::nextafter(edge, 0.0f)), std::ldexp(1.0f, k));
    EXPECT_EQ(scale(std::nextafter(edge, kInf)), std::ldexp(1.0f, k + 1));
  }
}

TEST(ActQuant, LastGroupMayBeShort) {
  Random random(2);
  const std::vector<float> x = random.normals(2 * 192);
  const Quantised q = act_quant(x, 192, ScaleForm::plain);
  ASSERT_EQ(q.scales.size(), 4u);
  const std::vector<float> tail(x.begin() + 128, x.begin() + 192);
  EXPECT_EQ(act_quant(tail, 64, ScaleForm::plain).scales[0], q.scales[1]);
  EXPECT_THROW(act_quant(x, 100, ScaleForm::plain), InvariantError);
}

TEST(ActQuant, NanAndInfinity) {
  std::vector<float> x(256, 1.0f);
  x[5] = kNan;
  x[200] = kInf;
  const Quantised q = act_quant(x, 256, ScaleForm::ue8m0_ceil);
  EXPECT_TRUE(std::isnan(q.scales[0]));
  EXPECT_TRUE(
      std::all_of(q.codes.begin(), q.codes.begin() + 128, [](uint8_t c) { return c == 0x7F; }));
  EXPECT_EQ(q.scales[1], 0x1p127f);
  EXPECT_EQ(q.codes[200], 0x7E);
}

TEST(KvRecord, LayoutIsCodesScalesRope) {
  Random random(3);
  const std::vector<float> latent = random.normals(512);
  std::vector<uint16_t> rope(64);
  for (uint16_t& bits : rope) bits = nearest_bf16(random.normal());
  const auto record = encode_record(latent, rope, ScaleForm::plain);
  const Quantised q = act_quant(latent, 512, ScaleForm::plain);
  EXPECT_EQ(std::memcmp(record.data(), q.codes.data(), 512), 0);
  for (size_t group = 0; group < 4; ++group) {
    float scale;
    std::memcpy(&scale, record.data() + 512 + 4 * group, 4);
    EXPECT_EQ(scale, q.scales[group]);
  }
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(record[528 + 2 * i], rope[i] & 0xFF);
    EXPECT_EQ(record[529 + 2 * i], rope[i] >> 8);
  }
}

TEST(KvRecord, DecodesToTheRoundedProduct) {
  Random random(4);
  uint8_t record[kRecordBytes];
  for (uint8_t& byte : record) byte = uint8_t(random.bits());
  const float scales[4] = {0.3f, 1.0f, 1.7e-3f, 5000.1f};  // no powers of two but one
  std::memcpy(record + 512, scales, 16);
  float values[kKeyDim];
  decode_record(record, values);
  for (size_t i = 0; i < 512; ++i) {
    const float product = e4m3_value(record[i]) * scales[i / 128];
    if (std::isnan(product)) {
      EXPECT_TRUE(std::isnan(values[i]));
      continue;
    }
    const int exponent = product == 0 ? 0 : std::ilogb(product);
    const double want =
        std::ldexp(std::nearbyint(std::ldexp(double(product), 7 - exponent)), exponent - 7);
    EXPECT_EQ(values[i], want) << i;
  }
  for (size_t i = 0; i < 64; ++i)
    EXPECT_EQ(bits_of(values[512 + i]) >> 16, record[528 + 2 * i] | record[529 + 2 * i] << 8);
}

TEST(KvRecord, RoundTripErrorIsThatOfE4m3) {
  Random random(5);
  const std::vector<float> latent = random.normals(512, 3);
  const std::vector<uint16_t> rope(64, 0x3F80);
  for (const ScaleForm form : {ScaleForm::plain, ScaleForm::ue8m0_ceil}) {
    const auto record = encode_record(latent, rope, form);
    float values[kKeyDim];
    decode_record(record.data(), values);
    for (size_t i = 0; i < 512; ++i)
      EXPECT_NEAR(values[i], latent[i], std::fabs(latent[i]) * (0x1p-4 + 0x1p-8) + 1e-4);
  }
  const std::vector<float> half_a_latent(256);
  EXPECT_THROW(encode_record(half_a_latent, rope, ScaleForm::plain), InvariantError);
}

}  // namespace
}  // namespace daybreak
