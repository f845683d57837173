// Counter-based numbers: pinned bits, independence of how a tensor is cut, and the distribution.
#include "ref/numeric/random.hpp"

#include <algorithm>
#include <set>

#include "tests/ref/tools.hpp"

namespace daybreak {
namespace {

using namespace numeric;
using namespace testing;

TEST(CounterRandom, BitsArePinned) {
  // Records of earlier runs stay comparable only while these hold.
  EXPECT_EQ(mix(0, 0, 0), 0xF53673D646F5B4FB);
  EXPECT_EQ(mix(1, 2, 3), 0x1C51C0D07D8C7FC9);
  std::vector<float> values(4096);
  gaussian_bf16(42, 7, 1, values);
  uint64_t hash = 0xCBF29CE484222325;  // FNV-1a over the bits
  for (const float x : values) hash = (hash ^ bits_of(x)) * 0x100000001B3;
  EXPECT_EQ(hash, 0xA39F355351036325);
}

TEST(CounterRandom, WordsAllMatter) {
  std::set<uint64_t> seen;
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (uint64_t stream = 0; stream < 20; ++stream)
      for (uint64_t index = 0; index < 20; ++index) seen.insert(mix(seed, stream, index));
  EXPECT_EQ(seen.size(), 8000u);
}

TEST(CounterRandom, OneInputBitFlipsHalfTheOutput) {
  Random random(1);
  double flipped[3] = {};
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    uint64_t words[3] = {random.bits(), random.bits(), random.bits()};
    const uint64_t base = mix(words[0], words[1], words[2]);
    for (int word = 0; word < 3; ++word)
      for (int bit = 0; bit < 64; ++bit) {
        words[word] ^= uint64_t(1) << bit;
        flipped[word] += std::popcount(base ^ mix(words[0], words[1], words[2]));
        words[word] ^= uint64_t(1) << bit;
      }
  }
  for (const double count : flipped) EXPECT_NEAR(count / (kRounds * 64.0), 32, 0.2);
}

TEST(CounterRandom, BelowStaysBelowAndIsEven) {
  EXPECT_EQ(below(~uint64_t(0), 1), 0u);
  EXPECT_EQ(below(~uint64_t(0), uint64_t(1) << 63), (uint64_t(1) << 63) - 1);
  EXPECT_EQ(below(~uint64_t(0), ~uint64_t(0)), ~uint64_t(0) - 1);
  std::vector<int> counts(10);
  for (uint64_t i = 0; i < 100000; ++i) ++counts[below(mix(3, 4, i), 10)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
}

TEST(Gaussian, AnyPartEqualsTheWhole) {
  std::vector<float> whole(5000);
  gaussian_bf16(8, 9, 1000, whole);
  Random random(2);
  for (int round = 0; round < 500; ++round) {
    const size_t first = size_t(random.below(4900)), count = size_t(random.below(100));
    std::vector<float> part(count + 1, 123);
    gaussian_bf16(8, 9, 1000 + first, std::span<float>(part.data(), count));
    for (size_t i = 0; i < count; ++i) ASSERT_EQ(bits_of(part[i]), bits_of(whole[first + i]));
    ASSERT_EQ(part[count], 123);
  }
  std::vector<float> far(64);
  gaussian_bf16(8, 9, uint64_t(1) << 40, far);
  EXPECT_FALSE(std::equal(far.begin(), far.end(), whole.begin()));
}

TEST(Gaussian, IsStandardNormalInBf16) {
  constexpr size_t kCount = 1 << 20;
  std::vector<float> x(kCount);
  gaussian_bf16(1, 1, 0, x);
  double sum = 0, square = 0, cube = 0, fourth = 0, lag = 0;
  for (size_t i = 0; i < kCount; ++i) {
    EXPECT_EQ(bits_of(x[i]) & 0xFFFF, 0u);
    const double v = x[i];
    sum += v, square += v * v, cube += v * v * v, fourth += v * v * v * v;
    if (i > 0) lag += v * x[i - 1];
  }
  EXPECT_NEAR(sum / kCount, 0, 0.005);
  EXPECT_NEAR(square / kCount, 1, 0.01);
  EXPECT_NEAR(cube / kCount, 0, 0.02);
  EXPECT_NEAR(fourth / kCount, 3, 0.05);
  EXPECT_NEAR(lag / kCount, 0, 0.005);
  // Kolmogorov-Smirnov distance; BF16 steps near 1 hold up to 0.001 of the mass.
  std::sort(x.begin(), x.end());
  double distance = 0;
  for (size_t i = 0; i < kCount; i += 97) {
    const double lower = double(std::lower_bound(x.begin(), x.end(), x[i]) - x.begin());
    const double upper = double(std::upper_bound(x.begin(), x.end(), x[i]) - x.begin());
    distance = std::max(distance, std::fabs((lower + upper) / 2 / kCount -
                                            0.5 * std::erfc(-x[i] / std::sqrt(2.0))));
  }
  EXPECT_LT(distance, 0.0025);
  EXPECT_LT(x.back(), 4.5f);  // quantile of 1 - 2^-17 is 4.27
  EXPECT_GT(x.back(), 4.0f);
}

TEST(Gaussian, StreamsAndSeedsAreUncorrelated) {
  constexpr size_t kCount = 1 << 16;
  std::vector<float> a(kCount), b(kCount), c(kCount);
  gaussian_bf16(1, 1, 0, a);
  gaussian_bf16(1, 2, 0, b);
  gaussian_bf16(2, 1, 0, c);
  double ab = 0, ac = 0;
  for (size_t i = 0; i < kCount; ++i) ab += double(a[i]) * b[i], ac += double(a[i]) * c[i];
  EXPECT_NEAR(ab / kCount, 0, 0.02);
  EXPECT_NEAR(ac / kCount, 0, 0.02);
}

}  // namespace
}  // namespace daybreak
