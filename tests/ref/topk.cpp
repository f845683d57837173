// Top-k against a stable sort of everything.
#include "ref/ops/topk.hpp"

#include <algorithm>
#include <numeric>

#include "configs/reader/errors.hpp"
#include "tests/ref/tools.hpp"

namespace daybreak {
namespace {

using namespace ref;
using namespace testing;

std::vector<int32_t> sorted_topk(const std::vector<float>& scores, size_t k) {
  std::vector<int32_t> order;
  for (size_t i = 0; i < scores.size(); ++i)
    if (!std::isnan(scores[i]) && !(std::isinf(scores[i]) && scores[i] < 0))
      order.push_back(int32_t(i));
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return scores[size_t(a)] > scores[size_t(b)]; });
  order.resize(std::min(k, order.size()));
  std::sort(order.begin(), order.end());
  order.resize(k, -1);
  return order;
}

TEST(Topk, EqualsASortOnRandomHostileScores) {
  Random random(1);
  for (int round = 0; round < 3000; ++round) {
    const size_t n = size_t(random.below(400)), k = size_t(random.below(450));
    // Few distinct values, so that ties straddle the boundary.
    const int64_t distinct = 1 + random.below(round % 2 ? 4 : 400);
    std::vector<float> scores(n);
    for (float& s : scores) {
      s = float(random.below(distinct)) - float(distinct) / 2;
      const int64_t special = random.below(20);
      if (special == 0) s = kNan;
      if (special == 1) s = -kInf;
      if (special == 2) s = kInf;
      if (special == 3) s = 0.0f;
      if (special == 4) s = -0.0f;
    }
    ASSERT_EQ(topk(scores, int64_t(k)), sorted_topk(scores, k)) << round;
  }
}

TEST(Topk, TiesTakeTheLowestIndices) {
  const std::vector<float> zeros(8320, 0.0f);
  std::vector<int32_t> want(2048);
  std::iota(want.begin(), want.end(), 0);
  EXPECT_EQ(topk(zeros, 2048), want);
  std::vector<float> winners = zeros;
  for (size_t i = 0; i < 100; ++i) winners[8319 - i * 70] = 1 + float(i);
  EXPECT_EQ(topk(winners, 2048), sorted_topk(winners, 2048));
}

TEST(Topk, MinusZeroEqualsZero) {
  const std::vector<float> scores = {-0.0f, 0.0f, -0.0f, 0.0f};
  EXPECT_EQ(topk(scores, 2), (std::vector<int32_t>{0, 1}));
}

TEST(Topk, Edges) {
  EXPECT_EQ(topk({}, 3), (std::vector<int32_t>{-1, -1, -1}));
  EXPECT_TRUE(topk(std::vector<float>{1, 2}, 0).empty());
  EXPECT_EQ(topk(std::vector<float>{kNan, -kInf, kNan}, 2), (std::vector<int32_t>{-1, -1}));
  EXPECT_EQ(topk(std::vector<float>{-kInf, kInf, kNan, -3e38f}, 3),
            (std::vector<int32_t>{1, 3, -1}));
  EXPECT_THROW(topk({}, -1), InvariantError);
}

}  // namespace
}  // namespace daybreak
