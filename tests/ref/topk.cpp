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
