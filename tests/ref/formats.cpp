// The oracles' own decode tables and rounding, on every row of tests/vectors and every bf16.
#include "ref/ops/formats.hpp"

#include <algorithm>

#include "tests/ref/tools.hpp"

namespace daybreak {
namespace {

using namespace ref;
using namespace testing;

TEST(OracleFormats, E4m3Values) {
  const auto rows = vector_rows("e4m3_to_f32.csv");
  ASSERT_EQ(rows.size(), 256u);
  for (const auto& row : rows)
    EXPECT_TRUE(same(e4m3_value(uint8_t(number(row[0]))), float_of(row[1]))) << row[0];
}

TEST(OracleFormats, NearestE4m3) {
  const auto rows = vector_rows("f32_to_e4m3.csv");
  ASSERT_EQ(rows.size(), 5000u);
  for (const auto& row : rows) EXPECT_EQ(nearest_e4m3(float_of(row[0])), number(row[1])) << row[0];
}

TEST(OracleFormats, E2m1AndE8m0Values) {
  const auto rows = vector_rows("e2m1_e8m0_to_f32.csv");
  ASSERT_EQ(rows.size(), 4096u);
  for (const auto& row : rows) {
    const float value = e2m1_value(uint8_t(number(row[0]))) * e8m0_value(uint8_t(number(row[1])));
    EXPECT_TRUE(same(value, float_of(row[2]))) << row[0] << " " << row[1];
  }
}

TEST(OracleFormats, NearestBf16) {
  Random random(1);
  for (int i = 0; i < 200000; ++i) {
    const float x = std::bit_cast<float>(uint32_t(random.bits()));
    if (std::isnan(x)) {
      ASSERT_TRUE(std::isnan(bf16_value(nearest_bf16(x))));
      continue;
    }
    if (std::isinf(x)) continue;
    const int exponent = std::max(x == 0 ? -126 : std::ilogb(x), -126);
    const double steps = std::nearbyint(std::ldexp(double(x), 7 - exponent));
    ASSERT_TRUE(same(bf16_value(nearest_bf16(x)), float(std::ldexp(steps, exponent - 7))));
  }
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float x = bf16_value(uint16_t(bits));
    ASSERT_EQ(bits_of(x), bits << 16);
    if (!std::isnan(x))
      ASSERT_EQ(nearest_bf16(x), bits);
    else
      ASSERT_TRUE(std::isnan(bf16_value(nearest_bf16(x))));
  }
  EXPECT_EQ(nearest_bf16(1.00390625f), 0x3F80);  // tie to the even lower neighbour
  EXPECT_EQ(nearest_bf16(1.01171875f), 0x3F82);  // tie to the even upper neighbour
  EXPECT_EQ(nearest_bf16(3.4e38f), 0x7F80);
}

TEST(OracleFormats, ManyAtOnce) {
  const std::vector<uint16_t> bits = {0x3F80, 0xC000, 0x0000};
  EXPECT_EQ(bf16_values(bits), (std::vector<float>{1, -2, 0}));
  const std::vector<uint8_t> codes = {0x38, 0xC0, 0x7E};
  EXPECT_EQ(e4m3_values(codes), (std::vector<float>{1, -2, 448}));
  const std::vector<double> values = {1, -2, 0};
  EXPECT_EQ(nearest_bf16(std::span<const double>(values)), bits);
}

}  // namespace
}  // namespace daybreak
