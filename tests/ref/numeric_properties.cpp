// ref/numeric against definitions written out slowly, and bulk forms against one-element forms.
#include <algorithm>
#include <climits>

#include "ref/numeric/convert.hpp"
#include "tests/ref/tools.hpp"

namespace daybreak {
namespace {

using namespace numeric;
using namespace testing;

// Every bf16 as fp32, random bit patterns, values within a few ulps of E4M3 half-way points.
std::vector<float> hostile_floats(size_t random_count) {
  std::vector<float> values;
  for (uint32_t bits = 0; bits < 65536; ++bits) values.push_back(std::bit_cast<float>(bits << 16));
  Random random(7);
  for (size_t i = 0; i < random_count; ++i)
    values.push_back(std::bit_cast<float>(uint32_t(random.bits())));
  for (int code = 0; code < 0x7E; ++code) {
    const float middle = (decode_e4m3(uint8_t(code)) + decode_e4m3(uint8_t(code + 1))) / 2;
    for (int ulp = -3; ulp <= 3; ++ulp) {
      values.push_back(std::bit_cast<float>(bits_of(middle) + ulp));
      values.push_back(-values.back());
    }
  }
  return values;
}

TEST(NumericProperties, BulkEqualsScalar) {
  const std::vector<float> values = hostile_floats(1 << 20);
  std::vector<uint8_t> codes(values.size());
  std::vector<uint16_t> halves(values.size());
  encode_e4m3(std::span<const float>(values), codes.data());
  encode_bf16(std::span<const float>(values), halves.data());
  std::vector<float> from_codes(values.size()), from_halves(values.size());
  decode_e4m3(std::span<const uint8_t>(codes), from_codes.data());
  decode_bf16(std::span<const uint16_t>(halves), from_halves.data());
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(codes[i], encode_e4m3(values[i])) << values[i];
    ASSERT_EQ(halves[i], encode_bf16(values[i])) << values[i];
    ASSERT_EQ(bits_of(from_codes[i]), bits_of(decode_e4m3(codes[i])));
    ASSERT_EQ(bits_of(from_halves[i]), bits_of(decode_bf16(halves[i])));
  }
}

TEST(NumericProperties, BulkWritesNothingElse) {
  Random random(3);
  const std::vector<float> values = random.normals(300, 100);
  for (size_t first = 0; first < 5; ++first)
    for (size_t count = 0; count < 200; ++count) {
      std::vector<uint8_t> codes(count + 2, 0xA5);
      encode_e4m3(std::span<const float>(values).subspan(first, count), codes.data() + 1);
      ASSERT_EQ(codes.front(), 0xA5);
      ASSERT_EQ(codes.back(), 0xA5);
      for (size_t i = 0; i < count; ++i)
        ASSERT_EQ(codes[i + 1], encode_e4m3(values[first + i])) << first << " " << count;
    }
}

// The nearest of all codes, the even one on a tie.
uint8_t search_e4m3(float x) {
  int best = 0;
  for (int code = 1; code <= 0x7E; ++code) {
    const double far = std::fabs(double(decode_e4m3(uint8_t(code))) - std::fabs(double(x)));
    const double near = std::fabs(double(decode_e4m3(uint8_t(best))) - std::fabs(double(x)));
    if (far < near || (far == near && code % 2 == 0)) best = code;
  }
  return uint8_t(best | (std::signbit(x) ? 0x80 : 0));
}

TEST(NumericProperties, E4m3IsTheNearestCode) {
  for (const float x : hostile_floats(20000)) {
    if (!std::isfinite(x)) continue;
    ASSERT_EQ(encode_e4m3(x), search_e4m3(x)) << std::hexfloat << x;
  }
}

TEST(NumericProperties, E4m3RoundTrips) {
  for (int code = 0; code < 256; ++code) {
    const uint8_t back = encode_e4m3(decode_e4m3(uint8_t(code)));
    EXPECT_EQ(back, (code & 0x7F) == 0x7F ? 0x7F : code);
  }
}

TEST(NumericProperties, Bf16IsTheNearest) {
  for (const float x : hostile_floats(200000)) {
    const uint16_t bits = encode_bf16(x);
    if (std::isnan(x)) {
      ASSERT_TRUE(std::isnan(decode_bf16(bits)));
      ASSERT_TRUE(bits & 0x40) << "a signalling NaN";
      continue;
    }
    if (std::isinf(x)) {
      ASSERT_EQ(decode_bf16(bits), x);
      continue;
    }
    // In steps of the binade's last place (2^-133 among subnormals), ties to even.
    const int exponent = std::max(x == 0 ? -126 : std::ilogb(x), -126);
    const double steps = std::nearbyint(std::ldexp(double(x), 7 - exponent));
    const float want = float(std::ldexp(steps, exponent - 7));
    ASSERT_TRUE(same(decode_bf16(bits), want)) << std::hexfloat << x;
  }
}

TEST(NumericProperties, E8m0IsTheSmallestPowerNotBelow) {
  Random random(11);
  for (int i = 0; i < 100000; ++i) {
    const float x = std::fabs(std::bit_cast<float>(uint32_t(random.bits())));
    if (!std::isfinite(x)) continue;
    int want = 0;
    while (want < 254 && std::ldexp(1.0, want - 127) < x) ++want;
    ASSERT_EQ(encode_e8m0_ceil(x), want) << std::hexfloat << x;
    ASSERT_EQ(encode_e8m0_ceil(-x), want);
  }
  for (int byte = 0; byte < 255; ++byte) {
    EXPECT_EQ(decode_e8m0(uint8_t(byte)), std::ldexp(1.0, byte - 127));
    EXPECT_EQ(encode_e8m0_ceil(decode_e8m0(uint8_t(byte))), byte);
  }
}

TEST(NumericProperties, ShiftIsExactOnlyInsideTheWindow) {
  for (int d = -200; d <= 200; ++d) {
    bool exact = true;
    for (int code = 0; code < 16; ++code) {
      const uint8_t shifted = shift_e2m1_to_e4m3(uint8_t(code), d);
      exact &= double(decode_e4m3(shifted)) == std::ldexp(double(decode_e2m1(uint8_t(code))), d);
      EXPECT_EQ(shifted & 0x80, (code & 8) << 4) << "the sign is kept, of zero too";
    }
    EXPECT_EQ(exact, d >= -8 && d <= 6) << d;
  }
  EXPECT_EQ(shift_e2m1_to_e4m3(7, INT_MAX), 0x7E);
  EXPECT_EQ(shift_e2m1_to_e4m3(15, INT_MIN), 0x80);
}

TEST(NumericProperties, ScaleRules) {
  std::vector<float> largest = {0, 1e-10f, 1e-4f, 1, 448, 3e38f};
  for (int k = -20; k < 100; ++k)
    for (int ulp = -3; ulp <= 3; ++ulp)
      largest.push_back(std::bit_cast<float>(bits_of(std::ldexp(448.0f, k)) + ulp));
  Random random(5);
  for (int i = 0; i < 10000; ++i) largest.push_back(std::fabs(random.normal(100)));
  for (const float amax : largest) {
    const float clamped = std::max(amax, 1e-4f);
    EXPECT_EQ(scale_of(amax, ScaleRule::plain), clamped / 448.0f);
    const double power = scale_of(amax, ScaleRule::ue8m0_ceil);
    EXPECT_EQ(std::exp2(std::round(std::log2(power))), power);
    EXPECT_GE(power * 448, clamped) << std::hexfloat << amax;
    EXPECT_LT(power / 2 * 448, clamped) << std::hexfloat << amax;
  }
  EXPECT_TRUE(std::isnan(scale_of(kNan, ScaleRule::plain)));
  EXPECT_TRUE(std::isnan(scale_of(kNan, ScaleRule::ue8m0_ceil)));
}

TEST(NumericProperties, GroupsOfEveryLength) {
  Random random(9);
  for (size_t count = 1; count < 300; ++count)
    for (const ScaleRule rule : {ScaleRule::plain, ScaleRule::ue8m0_ceil}) {
      const std::vector<float> x = random.normals(count, std::exp(random.normal(5)));
      std::vector<uint8_t> codes(count + 1, 0xA5);
      const float scale = quantise_group(x, rule, codes.data());
      float largest = 0;
      for (const float v : x) largest = std::max(largest, std::fabs(v));
      ASSERT_EQ(scale, scale_of(largest, rule));
      for (size_t i = 0; i < count; ++i) ASSERT_EQ(codes[i], encode_e4m3(x[i] / scale));
      ASSERT_EQ(codes[count], 0xA5);
    }
}

TEST(NumericProperties, GroupsWithNanAndInfinity) {
  std::vector<float> x(128, 1.0f);
  std::vector<uint8_t> codes(128);
  x[77] = kNan;
  EXPECT_TRUE(std::isnan(quantise_group(x, ScaleRule::plain, codes.data())));
  EXPECT_EQ(std::ranges::count(codes, 0x7F), 128);
  x[77] = -kInf;
  EXPECT_EQ(quantise_group(x, ScaleRule::ue8m0_ceil, codes.data()), 0x1p127f);
  EXPECT_EQ(codes[77], 0xFE);
  EXPECT_EQ(codes[0], 0x00);
  EXPECT_EQ(quantise_group({}, ScaleRule::plain, nullptr), 1e-4f / 448);
}

}  // namespace
}  // namespace daybreak
