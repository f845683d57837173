// Every row of tests/vectors against ref/numeric.
#include "ref/numeric/convert.hpp"
#include "tests/ref/tools.hpp"

namespace daybreak {
namespace {

using namespace numeric;
using namespace testing;

TEST(NumericVectors, E4m3Decodes) {
  const auto rows = vector_rows("e4m3_to_f32.csv");
  ASSERT_EQ(rows.size(), 256u);
  for (const auto& row : rows)
    EXPECT_EQ(bits_of(decode_e4m3(uint8_t(number(row[0])))), number(row[1])) << row[0];
}

TEST(NumericVectors, E4m3Encodes) {
  const auto rows = vector_rows("f32_to_e4m3.csv");
  ASSERT_EQ(rows.size(), 5000u);
  for (const auto& row : rows) EXPECT_EQ(encode_e4m3(float_of(row[0])), number(row[1])) << row[0];
}

TEST(NumericVectors, E2m1Encodes) {
  const auto rows = vector_rows("f32_to_e2m1.csv");
  ASSERT_EQ(rows.size(), 762u);
  for (const auto& row : rows) EXPECT_EQ(encode_e2m1(float_of(row[0])), number(row[1])) << row[0];
}

TEST(NumericVectors, E8m0RoundsUp) {
  const auto rows = vector_rows("f32_to_e8m0_ceil.csv");
  ASSERT_EQ(rows.size(), 834u);
  for (const auto& row : rows)
    EXPECT_EQ(encode_e8m0_ceil(float_of(row[0])), number(row[1])) << row[0];
}

TEST(NumericVectors, E2m1TimesE8m0) {
  const auto rows = vector_rows("e2m1_e8m0_to_f32.csv");
  ASSERT_EQ(rows.size(), 4096u);
  for (const auto& row : rows) {
    const float value = decode_e2m1(uint8_t(number(row[0]))) * decode_e8m0(uint8_t(number(row[1])));
    EXPECT_TRUE(same(value, float_of(row[2]))) << row[0] << " " << row[1];
  }
}

TEST(NumericVectors, ShiftToE4m3) {
  const auto rows = vector_rows("mxfp4_shift_to_e4m3.csv");
  ASSERT_EQ(rows.size(), 528u);
  for (const auto& row : rows) {
    const int d = std::stoi(row[0]);
    const uint8_t code = uint8_t(number(row[1]));
    const uint8_t shifted = shift_e2m1_to_e4m3(code, d);
    EXPECT_EQ(shifted, number(row[2])) << row[0] << " " << row[1];
    const bool exact = decode_e4m3(shifted) == std::ldexp(decode_e2m1(code), d);
    EXPECT_EQ(exact, row[3] == "1") << row[0] << " " << row[1];
  }
}

}  // namespace
}  // namespace daybreak
