// Metrics by their definitions, and verdicts that must fail when something is wrong.
#include <cmath>
#include <set>

#include "configs/reader/errors.hpp"
#include "ref/compare/metrics.hpp"
#include "ref/compare/verdict.hpp"
#include "tests/ref/tools.hpp"

namespace daybreak {
namespace {

using namespace ref;
using namespace testing;

std::vector<double> normals(Random& random, size_t count) {
  const auto x = random.normals(count);
  return {x.begin(), x.end()};
}

TEST(Metrics, CalcDiffIsItsFormula) {
  Random random(1);
  for (const double error : {1.0, 1e-2, 1e-4}) {
    const auto want = normals(random, 1000);
    auto got = want;
    for (double& x : got) x += error * random.normal();
    double cross = 0, squares = 0;
    for (size_t i = 0; i < 1000; ++i)
      cross += got[i] * want[i], squares += got[i] * got[i] + want[i] * want[i];
    EXPECT_NEAR(calc_diff(got, want), 1 - 2 * cross / squares, 1e-13);
    for (double& x : got) x *= 1e-30;
    auto small = want;
    for (double& x : small) x *= 1e-30;
    EXPECT_NEAR(calc_diff(got, small), 1 - 2 * cross / squares, 1e-13) << "free of scale";
  }
}

TEST(Metrics, Edges) {
  const std::vector<double> zeros(4), ones(4, 1), mixed = {1, kNan, kInf, 2};
  EXPECT_EQ(calc_diff(zeros, zeros), 0);
  EXPECT_EQ(calc_diff(zeros, ones), 1);
  EXPECT_EQ(calc_diff({}, {}), 0);
  EXPECT_EQ(rms_ratio(zeros, zeros), 0);
  EXPECT_EQ(rms_ratio(zeros, ones), 1);
  EXPECT_EQ(rms_ratio(ones, zeros), kInf);
  EXPECT_EQ(peak_ratio(ones, zeros), kInf);
  EXPECT_EQ(peak_ratio(std::vector<double>{1, 2}, std::vector<double>{1, 4}), 0.5);
  EXPECT_EQ(calc_diff(mixed, mixed), 0);
  EXPECT_NEAR(rms_ratio(std::vector<double>{3, 5}, std::vector<double>{3, 4}), 0.2, 1e-15);
}

TEST(Metrics, ThreeDigits) {
  EXPECT_EQ(round_digits(1.23456e-7), 1.23e-7);
  EXPECT_EQ(round_digits(-99.96), -100);
  EXPECT_EQ(round_digits(0), 0);
  EXPECT_EQ(round_digits(kInf), kInf);
}

TEST(Tolerances, NamesAreUniqueAndEveryOneHasAScaleFreeLimitAndASource) {
  std::set<std::string_view> names;
  for (const Tolerance& t : tolerances()) {
    EXPECT_TRUE(names.insert(t.name).second) << t.name;
    EXPECT_TRUE(t.calc_diff >= 0 || t.rms_ratio >= 0 || t.peak_ratio >= 0) << t.name;
    EXPECT_FALSE(t.source.empty()) << t.name;
    EXPECT_FALSE(t.text().empty()) << t.name;
    EXPECT_EQ(&tolerance(t.name), &t);
  }
  EXPECT_THROW(tolerance("no such thing"), InvariantError);
  EXPECT_EQ(tolerance("sparse_mla_out").text(), "abs 0.001 or rel 0.0157, calc_diff 5e-06");
}

TEST(Compare, EveryToleranceAcceptsEqualAndRejectsWrongKinds) {
  Random random(2);
  auto want = normals(random, 500);
  want[3] = kNan, want[5] = kInf, want[7] = -kInf;
  for (const Tolerance& t : tolerances()) {
    EXPECT_TRUE(compare("x", want, want, t).pass) << t.name;
    EXPECT_EQ(compare("x", want, want, t).worst, -1) << t.name;
    const std::pair<size_t, double> faults[] = {{10, kNan}, {10, kInf}, {10, -kInf}, {3, 0},
                                                {3, kInf},  {5, 1e38},  {5, -kInf},  {7, kNan}};
    for (const auto& [index, value] : faults) {
      auto got = want;
      got[index] = value;
      const Verdict verdict = compare("x", got, want, t);
      EXPECT_FALSE(verdict.pass) << t.name << " " << index << " " << value;
      EXPECT_EQ(verdict.worst, int64_t(index)) << t.name;
      EXPECT_FALSE(verdict.finding.empty());
    }
    EXPECT_FALSE(compare("x", std::vector<double>(3), std::vector<double>(4), t).pass);
    // Sign lost, or a factor of two: whatever the scale of the data.
    for (const double factor : {-1.0, 2.0, 0.0})
      for (const double scale : {1.0, 1e-6, 1e6}) {
        auto got = normals(random, 300), right = got;
        for (size_t i = 0; i < 300; ++i) right[i] *= scale, got[i] = right[i] * factor;
        EXPECT_FALSE(compare("x", got, right, t).pass) << t.name << " " << factor << " " << scale;
      }
  }
}

TEST(Compare, SmallErrorsPassWhereTheyMay) {
  Random random(3);
  const auto want = normals(random, 1000);
  auto got = want;
  for (double& x : got) x *= 1 + 1e-7 * random.normal();
  EXPECT_TRUE(compare("x", got, want, tolerance("indexer_scores")).pass);
  EXPECT_TRUE(compare("x", got, want, tolerance("sparse_mla_out")).pass);
  EXPECT_TRUE(compare("x", got, want, tolerance("sparse_mla_lse")).pass);
  EXPECT_TRUE(compare("x", got, want, tolerance("elementwise_f32")).pass);
  EXPECT_FALSE(compare("x", got, want, tolerance("conversion")).pass);
  for (double& x : got) x += 1e-3 * random.normal();
  EXPECT_FALSE(compare("x", got, want, tolerance("indexer_scores")).pass);
  EXPECT_FALSE(compare("x", got, want, tolerance("sparse_mla_lse")).pass);
}

TEST(Compare, OneWrongScoreAmongManyIsFound) {
  Random random(4);
  const auto want = normals(random, 1 << 17);
  auto got = want;
  got[70000] += 1e-3;
  const Verdict verdict = compare("scores", got, want, tolerance("indexer_scores"));
  EXPECT_FALSE(verdict.pass);
  EXPECT_EQ(verdict.worst, 70000);
  EXPECT_EQ(verdict.got, got[70000]);
  EXPECT_EQ(verdict.want, want[70000]);
  EXPECT_EQ(verdict.elements, 1 << 17);
}

TEST(Compare, AbsoluteOrRelative) {
  const Tolerance t{.name = "t", .absolute = 0.1, .relative = 0.01, .peak_ratio = 1};
  const std::vector<double> want = {1, 1000};
  EXPECT_TRUE(compare("x", std::vector<double>{1.09, 1009}, want, t).pass);
  EXPECT_FALSE(compare("x", std::vector<double>{1.11, 1000}, want, t).pass);
  EXPECT_FALSE(compare("x", std::vector<double>{1, 1011}, want, t).pass);
  const Tolerance floor{.name = "f", .relative = 0.01, .floor = 1e-3};
  EXPECT_TRUE(compare("x", std::vector<double>{1.9, 1000}, want, floor).pass);
  EXPECT_FALSE(compare("x", std::vector<double>{2.1, 1000}, want, floor).pass);
}

TEST(Compare, SmallOutputsAreNotHiddenByTheAbsoluteLimit) {
  Random random(5);
  auto want = normals(random, 1000), got = normals(random, 1000);
  for (size_t i = 0; i < 1000; ++i)
    want[i] *= 1e-4, got[i] *= 1e-4;  // unrelated, but below abs 1e-3
  EXPECT_FALSE(compare("out", got, want, tolerance("sparse_mla_out")).pass);
}

TEST(Compare, MetricsAreRecordedInThreeDigits) {
  const std::vector<float> got = {1.0012345f, 2}, want = {1, 2};
  const Verdict verdict = compare("x", got, want, tolerance("sparse_mla_out"));
  ASSERT_EQ(verdict.metrics.size(), 1u);
  EXPECT_EQ(verdict.metrics[0].name, "calc_diff");
  EXPECT_EQ(verdict.metrics[0].value, round_digits(verdict.metrics[0].value));
  EXPECT_GT(verdict.metrics[0].value, 0);
  EXPECT_EQ(verdict.metrics[0].limit, 5e-6);
}

TEST(CompareExact, CodesAndIndices) {
  const std::vector<int32_t> list = {1, 2147483647, -1}, near = {1, 2147483646, -1};
  EXPECT_TRUE(compare_exact("x", list, list).pass);
  const Verdict verdict = compare_exact("x", near, list);
  EXPECT_FALSE(verdict.pass);
  EXPECT_EQ(verdict.worst, 1);
  const std::vector<uint8_t> codes = {0, 255}, other = {0, 254};
  EXPECT_TRUE(compare_exact("x", codes, codes).pass);
  EXPECT_FALSE(compare_exact("x", other, codes).pass);
}

}  // namespace
}  // namespace daybreak
