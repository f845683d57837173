// Oracles of routed experts against direct sums over decoded weights.
#include "ref/ops/expert.hpp"

#include <algorithm>
#include <numeric>

#include "ref/ops/formats.hpp"
#include "ref/ops/router.hpp"
#include "tests/ref/tools.hpp"

namespace daybreak::ref {
namespace {

using testing::kNan;

std::vector<uint8_t> bytes(testing::Random& random, size_t n, int low, int high) {
  std::vector<uint8_t> v(n);
  for (auto& b : v) b = uint8_t(low + int(random.bits() % uint64_t(high - low + 1)));
  return v;
}

double weight_of(const std::vector<uint8_t>& codes, const std::vector<uint8_t>& scales, int64_t row,
                 int64_t col, int64_t cols) {
  const uint8_t byte = codes[size_t((row * cols + col) / 2)];
  const uint8_t code = col % 2 ? byte / 16 : byte % 16;
  return double(e2m1_value(code)) * std::ldexp(1.0, scales[size_t((row * cols + col) / 32)] - 127);
}

TEST(Mxfp4, ShiftVectors) {
  for (const auto& row : testing::vector_rows("mxfp4_shift_to_e4m3.csv")) {
    const int d = std::stoi(row[0]);
    const uint8_t code = uint8_t(testing::number(row[1]));
    if (d > 6) continue;  // G = top - 6 never shifts further up
    // A block that holds a 6 at the top byte fixes the group's scale; the code stands d - 6 below it.
    std::vector<uint8_t> packed(32, 0), scales{200, uint8_t(200 - 6 + d)};
    packed[0] = 7, packed[16] = code;
    const MxGroup g = convert_group(packed, scales);
    EXPECT_EQ(g.values[32], double(e4m3_value(uint8_t(testing::number(row[2])))))
        << "d " << d << " code " << int(code);
  }
}

TEST(Mxfp4, OrdersBiasZerosAndNan) {
  std::vector<uint8_t> packed(16);
  std::iota(packed.begin(), packed.end(), uint8_t(0x10));
  uint8_t low[32], high[32], split[32];
  unpack_block(packed.data(), Nibbles::low_first, low);
  unpack_block(packed.data(), Nibbles::high_first, high);
  unpack_block(packed.data(), Nibbles::split, split);
  EXPECT_EQ(low[4], 2);
  EXPECT_EQ(low[5], 1);
  EXPECT_EQ(high[4], 1);
  EXPECT_EQ(high[5], 2);
  EXPECT_EQ(split[5], 5);
  EXPECT_EQ(split[21], 1);

  std::vector<uint8_t> two(32, 0x33);
  std::vector<uint8_t> scales{120, 255};
  const MxGroup g = convert_group(two, scales);
  EXPECT_EQ(g.scale, std::ldexp(1.0f, 120 - 6 - 127));
  EXPECT_EQ(g.values[0] * g.scale, 1.5 * std::ldexp(1.0, 120 - 127));
  EXPECT_TRUE(std::isnan(g.values[32]));
  EXPECT_EQ(convert_group(two, scales, {.bias = 125}).scale, 4 * g.scale);
  std::fill(two.begin(), two.begin() + 16, uint8_t(0x88));  // zeros, whatever their scale
  scales = {254, 100};
  EXPECT_EQ(convert_group(two, scales).scale, std::ldexp(1.0f, 100 - 6 - 127));
  EXPECT_TRUE(std::signbit(convert_group(two, scales).values[0]));
}

// Within a spread of 14 conversion loses nothing; beyond it says so.
TEST(Mxfp4, ExactWithinFourteen) {
  testing::Random random(3);
  for (int spread = 0; spread < 20; ++spread) {
    std::vector<uint8_t> packed(32, 0x11), scales{150, uint8_t(150 - spread)};
    EXPECT_EQ(convert_group(packed, scales).exact, spread <= 14) << spread;
  }
}

TEST(Experts, ProductsAgainstDirectSums) {
  testing::Random random(5);
  for (int64_t cols : {128, 320}) {
    const int64_t rows = 70, m = 3;
    const auto codes = bytes(random, size_t(rows * cols / 2), 0, 255);
    const auto scales = bytes(random, size_t(rows * cols / 32), 118, 122);
    const ByteSource values(codes), scale_bytes(scales);
    std::vector<float> x;
    for (int64_t i = 0; i < m * cols; ++i)
      x.push_back(bf16_value(nearest_bf16(float(int64_t(random.bits() % 2001) - 1000) / 500)));
    const WeightMatrix w{.rows = rows, .cols = cols, .values = &values, .scales = &scale_bytes};
    const auto got = weight_product(x, w, 1, 2, 30, ScaleForm::plain);
    const auto q = act_quant(x, cols, ScaleForm::plain);
    const int64_t groups = (cols + 127) / 128;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < 30; ++j) {
        double want = 0, size = 0;
        for (int64_t c = 0; c < cols; ++c) {
          const double term = double(e4m3_value(q.codes[size_t(i * cols + c)])) *
                              double(q.scales[size_t(i * groups + c / 128)]) *
                              weight_of(codes, scales, 1 + 2 * j, c, cols);
          want += term, size += std::fabs(term);
        }
        EXPECT_NEAR(got[size_t(i * 30 + j)], want, 1e-6 * size);
      }
  }
}

TEST(Experts, Activations) {
  EXPECT_DOUBLE_EQ(gated(0, 5, ExpertActivation::silu, 1, 0), 0);
  EXPECT_NEAR(gated(2, 3, ExpertActivation::silu, 1, 0), 2 / (1 + std::exp(-2.0)) * 3, 1e-15);
  // Clamps: gate from above only, up on both sides.
  EXPECT_NEAR(gated(100, -100, ExpertActivation::swiglu, 1.702, 7),
              7 / (1 + std::exp(-1.702 * 7)) * (-7 + 1), 1e-12);
  EXPECT_NEAR(gated(-100, 100, ExpertActivation::swiglu, 1.702, 7), 0, 1e-60);
  EXPECT_NEAR(gated(1e9, 1e9, ExpertActivation::situ, 4, 25), 100, 1e-9);
  EXPECT_TRUE(std::isnan(gated(kNan, 1, ExpertActivation::swiglu, 1.702, 7)));
}

TEST(Router, GroupsBiasAndTies) {
  const float logits[] = {3, -9, 2, 2, 1, 1, 0, 0};
  std::vector<float> bias(8, 0.0f);
  const Router r{.experts = 8, .topk = 3, .groups = 4, .keep = 2, .scale = 2, .bias = bias};
  // Groups by best two sigmoids: {2, 3} first, {4, 5} before {0, 1}: 2 s(1) > s(3) + s(-9).
  const auto got = route(logits, r);
  EXPECT_EQ(got.experts, (std::vector<int32_t>{2, 3, 4}));
  EXPECT_NEAR(got.weights[0] + got.weights[1] + got.weights[2], 2, 1e-12);
  bias[6] = bias[7] = 5;  // decides, but does not weigh
  const auto moved = route(logits, r);
  EXPECT_EQ(moved.experts, (std::vector<int32_t>{2, 6, 7}));
  EXPECT_NEAR(moved.weights[1] / moved.weights[0], 0.5 * (1 + std::exp(-2.0)), 1e-6);
}

// Masked groups are out even when every score that is left is negative (operators.md, bug 11).
TEST(Router, MaskedGroupsStayOut) {
  const float logits[] = {0, 0, 0, 0};
  const std::vector<float> bias{-5, -5, -1, -1};
  const auto got = route(logits, {.experts = 4, .topk = 2, .groups = 2, .keep = 1, .bias = bias});
  EXPECT_EQ(got.experts, (std::vector<int32_t>{2, 3}));
}

TEST(Router, SoftmaxAndNan) {
  const float logits[] = {kNan, 1, 3, kNan, 2};
  const auto got = route(logits, {.form = RouterForm::softmax, .experts = 5, .topk = 4});
  EXPECT_EQ(got.experts, (std::vector<int32_t>{1, 2, 4, -1}));
  const double sum = std::exp(-2.0) + 1 + std::exp(-1.0);
  EXPECT_NEAR(got.weights[1], 1 / sum, 1e-12);
  EXPECT_EQ(got.weights[3], 0);
}

}  // namespace
}  // namespace daybreak::ref
