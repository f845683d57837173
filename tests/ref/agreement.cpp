// ref/numeric and ref/ops state the formats and act_quant independently: every bit must agree.
#include "ref/numeric/convert.hpp"
#include "ref/ops/formats.hpp"
#include "ref/ops/quantise.hpp"
#include "tests/ref/tools.hpp"

namespace daybreak {
namespace {

using namespace testing;

TEST(FormatsAgree, Conversions) {
  for (int code = 0; code < 256; ++code) {
    EXPECT_TRUE(same(numeric::decode_e4m3(uint8_t(code)), ref::e4m3_value(uint8_t(code))));
    EXPECT_TRUE(same(numeric::decode_e8m0(uint8_t(code)), ref::e8m0_value(uint8_t(code))));
    EXPECT_TRUE(same(numeric::decode_e2m1(uint8_t(code)), ref::e2m1_value(uint8_t(code))));
  }
  Random random(1);
  for (int i = 0; i < 1000000; ++i) {
    const float x = std::bit_cast<float>(uint32_t(random.bits()));
    ASSERT_EQ(numeric::encode_e4m3(x), ref::nearest_e4m3(x)) << std::hexfloat << x;
    ASSERT_EQ(numeric::encode_bf16(x), ref::nearest_bf16(x)) << std::hexfloat << x;
  }
}

TEST(FormatsAgree, Quantisation) {
  Random random(2);
  for (int round = 0; round < 2000; ++round) {
    std::vector<float> x = random.normals(128, std::exp(random.normal(8)));
    if (round % 10 == 0) x[size_t(random.below(128))] = round % 20 == 0 ? kNan : kInf;
    if (round % 7 == 0) std::fill(x.begin(), x.end(), 0.0f);
    if (round % 3 == 0) x[0] = std::ldexp(448.0f, int(random.below(40)) - 10);
    for (const bool plain : {true, false}) {
      std::vector<uint8_t> codes(128);
      const float scale = numeric::quantise_group(
          x, plain ? numeric::ScaleRule::plain : numeric::ScaleRule::ue8m0_ceil, codes.data());
      const ref::Quantised want =
          ref::act_quant(x, 128, plain ? ref::ScaleForm::plain : ref::ScaleForm::ue8m0_ceil);
      ASSERT_TRUE(same(scale, want.scales[0])) << round;
      ASSERT_EQ(codes, want.codes) << round;
    }
  }
}

}  // namespace
}  // namespace daybreak
