// RoPE: YaRN constants that operators.md states, properties of rotations, the two layouts.
#include "ref/ops/rope.hpp"

#include <complex>

#include "configs/reader/errors.hpp"
#include "tests/ref/tools.hpp"

namespace daybreak {
namespace {

using namespace ref;
using namespace testing;

RopeParameters deepseek() {
  return {.dim = 64, .theta = 1e4, .yarn = true, .factor = 40, .original_positions = 4096};
}

TEST(RopeFrequencies, PlainArePowersOfTheta) {
  const auto f = rope_frequencies({.dim = 64, .theta = 1e4});
  ASSERT_EQ(f.size(), 32u);
  EXPECT_EQ(f[0], 1);
  EXPECT_NEAR(f[16], 0.01, 1e-15);
  for (size_t i = 1; i < 32; ++i) EXPECT_NEAR(f[i] / f[i - 1], std::pow(1e4, -1 / 32.0), 1e-12);
}

// Ramp position of pair i, found from what YaRN did to its frequency.
double ramp_of(const RopeParameters& p, size_t i) {
  RopeParameters plain = p;
  plain.yarn = false;
  const double kept = rope_frequencies(p)[i] / rope_frequencies(plain)[i];
  return (1 - kept) / (1 - 1 / p.factor);
}

TEST(RopeFrequencies, YarnOfDeepSeekRampsFrom10To23) {
  const RopeParameters p = deepseek();
  for (size_t i = 0; i < 32; ++i) {
    const double want = i <= 10 ? 0 : i >= 23 ? 1 : (double(i) - 10) / 13;
    EXPECT_NEAR(ramp_of(p, i), want, 1e-12) << i;
  }
}

TEST(RopeFrequencies, YarnOfKimiK2IsAStepFrom19To20) {
  const RopeParameters p = {.dim = 64,
                            .theta = 5e4,
                            .yarn = true,
                            .factor = 32,
                            .original_positions = 4096,
                            .beta_fast = 1,
                            .beta_slow = 1};
  for (size_t i = 0; i < 32; ++i) EXPECT_NEAR(ramp_of(p, i), i <= 19 ? 0 : 1, 1e-12) << i;
}

TEST(RopeFrequencies, YarnOfGptOssIsNotTruncated) {
  const RopeParameters p = {.dim = 64,
                            .theta = 1.5e5,
                            .yarn = true,
                            .factor = 32,
                            .original_positions = 4096,
                            .truncate = false};
  const double low = 8.0928, high = 17.3980;
  for (size_t i = 0; i < 32; ++i) {
    const double want = std::clamp((double(i) - low) / (high - low), 0.0, 1.0);
    EXPECT_NEAR(ramp_of(p, i), want, 1e-5) << i;
  }
}

TEST(Rope, IsAComplexRotation) {
  Random random(1);
  const auto f = rope_frequencies(deepseek());
  const std::vector<float> x = random.normals(5 * 64);
  const std::vector<int64_t> positions = {0, 1, 4095, 4096, 163839};
  const auto pairs = rope(x, positions, f, RopeLayout::interleaved);
  const auto halves = rope(x, positions, f, RopeLayout::half_split);
  for (size_t row = 0; row < 5; ++row)
    for (size_t i = 0; i < 32; ++i) {
      const auto turn = std::polar(1.0, double(positions[row]) * f[i]);
      const float* r = x.data() + row * 64;
      const auto a = std::complex<double>(r[2 * i], r[2 * i + 1]) * turn;
      EXPECT_NEAR(pairs[row * 64 + 2 * i], a.real(), 1e-14);
      EXPECT_NEAR(pairs[row * 64 + 2 * i + 1], a.imag(), 1e-14);
      const auto b = std::complex<double>(r[i], r[i + 32]) * turn;
      EXPECT_NEAR(halves[row * 64 + i], b.real(), 1e-14);
      EXPECT_NEAR(halves[row * 64 + i + 32], b.imag(), 1e-14);
    }
}

TEST(Rope, DotsDependOnTheDistanceAlone) {
  Random random(2);
  const auto f = rope_frequencies(deepseek());
  const std::vector<float> q = random.normals(64), k = random.normals(64);
  const auto dot = [&](int64_t at_q, int64_t at_k, RopeLayout layout) {
    const std::vector<int64_t> pq = {at_q}, pk = {at_k};
    const auto a = rope(q, pq, f, layout), b = rope(k, pk, f, layout);
    double sum = 0;
    for (size_t i = 0; i < 64; ++i) sum += a[i] * b[i];
    return sum;
  };
  for (const RopeLayout layout : {RopeLayout::interleaved, RopeLayout::half_split})
    EXPECT_NEAR(dot(1000, 990, layout), dot(31000, 30990, layout), 1e-9);
}

TEST(Rope, MagnitudeScalesAndAnglesAreCosThenSin) {
  const std::vector<double> f = {0.5, 0.25};
  const auto angles = rope_angles(f, 3, 2);
  EXPECT_NEAR(angles[0], 2 * std::cos(1.5), 1e-15);
  EXPECT_NEAR(angles[1], 2 * std::cos(0.75), 1e-15);
  EXPECT_NEAR(angles[2], 2 * std::sin(1.5), 1e-15);
  EXPECT_NEAR(angles[3], 2 * std::sin(0.75), 1e-15);
  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<int64_t> zero = {0};
  EXPECT_EQ(rope(x, zero, f, RopeLayout::interleaved, 2), (std::vector<double>{2, 4, 6, 8}));
}

TEST(Rope, ShapesThatDisagreeAreErrors) {
  const std::vector<float> x(7);
  const std::vector<int64_t> positions = {0, 1};
  EXPECT_THROW(rope(x, positions, std::vector<double>{1, 1}, RopeLayout::interleaved),
               InvariantError);
  EXPECT_THROW(rope_frequencies({.dim = 3}), InvariantError);
}

}  // namespace
}  // namespace daybreak
