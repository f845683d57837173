// The top-k comparator accepts every list the contract allows and rejects each way to be wrong.
#include <algorithm>
#include <numeric>

#include "ref/compare/verdict.hpp"
#include "tests/ref/tools.hpp"

namespace daybreak {
namespace {

using namespace ref;
using namespace testing;

TEST(CompareTopk, AcceptsTheReference) {
  Random random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<float> scores = random.normals(size_t(1 + random.below(300)));
    for (float& s : scores) {
      const int64_t special = random.below(15);
      if (special == 0) s = kNan;
      if (special == 1) s = -kInf;
      if (special == 2) s = kInf;
      if (special == 3) s = 0;
    }
    const Verdict verdict =
        compare_topk("x", sorted_topk(scores, size_t(random.below(350))), scores, 0);
    EXPECT_TRUE(verdict.pass) << verdict.finding;
  }
}

TEST(CompareTopk, AcceptsScoresOffByEpsilon) {
  Random random(2);
  const std::vector<float> scores = random.normals(5000);
  std::vector<float> noisy = scores;
  for (float& s : noisy) s += float((random.uniform() - 0.5) * 0.01);
  const auto list = sorted_topk(noisy, 1000);
  EXPECT_NE(list, sorted_topk(scores, 1000));
  EXPECT_TRUE(compare_topk("x", list, scores, 0.01).pass);
  EXPECT_FALSE(compare_topk("x", list, scores, 1e-6).pass);
}

TEST(CompareTopk, AnyOfEqualScoresWillDo) {
  const std::vector<float> scores = {5, 0, 0, 0, 7};
  EXPECT_TRUE(compare_topk("x", std::vector<int32_t>{0, 3, 4}, scores, 0).pass);
  EXPECT_FALSE(compare_topk("x", std::vector<int32_t>{1, 3, 4}, scores, 0).pass);
}

TEST(CompareTopk, RejectsEachFault) {
  const std::vector<float> scores = {5, 4, kNan, 3, -kInf, 2, 1};
  const auto fails = [&](std::vector<int32_t> list) {
    const Verdict verdict = compare_topk("x", list, scores, 0.5);
    EXPECT_EQ(verdict.pass, verdict.finding.empty());
    return !verdict.pass;
  };
  EXPECT_FALSE(fails({0, 1, 3}));
  EXPECT_TRUE(fails({0, 1, 1})) << "twice the same";
  EXPECT_TRUE(fails({1, 0, 3})) << "not ascending";
  EXPECT_TRUE(fails({0, 1, -1})) << "one is missing";
  EXPECT_TRUE(fails({-1, 0, 1})) << "a hole in front";
  EXPECT_TRUE(fails({0, 1, 7})) << "out of range";
  EXPECT_TRUE(fails({0, 1, 2143289344})) << "NaN bits as an index";
  EXPECT_TRUE(fails({0, 1, 2})) << "a NaN is selected";
  EXPECT_TRUE(fails({0, 1, 4})) << "-inf is selected";
  EXPECT_TRUE(fails({0, 1, 5})) << "a better one was left out";
  EXPECT_FALSE(fails({0, 1, 3, 5, 6, -1, -1}));
  EXPECT_TRUE(fails({0, 1, 3, 5, 6, 6, -1})) << "more than there are";
  EXPECT_FALSE(fails({}));
}

TEST(CompareTopk, InfiniteScores) {
  const std::vector<float> scores = {kInf, 1, kInf, 2};
  EXPECT_TRUE(compare_topk("x", std::vector<int32_t>{0, 2}, scores, 1).pass);
  EXPECT_FALSE(compare_topk("x", std::vector<int32_t>{0, 3}, scores, 1).pass);
  EXPECT_TRUE(compare_topk("x", std::vector<int32_t>{0, 2, 3}, scores, 0).pass);
}

}  // namespace
}  // namespace daybreak
