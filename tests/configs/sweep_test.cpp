#include <gtest/gtest.h>

#include <set>

#include "configs/reader/sweep.hpp"
#include "tests/configs/errors_of.hpp"

namespace daybreak::configs {
namespace {

const std::string kHead = "title: t\nchip: mx-dma\n";
const std::string kWork = "workloads: [{name: w, words: [run, topk]}]\n";

std::vector<std::vector<std::string>> values(const std::string& text) {
  std::vector<std::vector<std::string>> out;
  for (const auto& point : read_sweep_text(text, "s.yaml").points()) {
    out.emplace_back();
    for (const auto& setting : point) out.back().push_back(setting.value);
  }
  return out;
}

TEST(Sweep, ListsRangesAndLogRangesSpanTheGridAndDependentAxesFollow) {
  const auto points = values(kHead + R"(axes:
  - {name: a, knob: cores, list: [3, 1]}
  - {name: b, knob: core.sort.head, range: {from: 0.1, to: 0.3, step: 0.1}}
  - {name: c, knob: core.dma.outstanding, log: {from: 8, to: 16, factor: 2}}
  - {name: d, knob: core.dma.convert_lanes, value: "a * c"}
)" + kWork);
  ASSERT_EQ(points.size(), 2u * 3 * 2);
  EXPECT_EQ(points.front(), (std::vector<std::string>{"3", "0.1", "8", "24"}));
  EXPECT_EQ(points[1], (std::vector<std::string>{"3", "0.1", "16", "48"}));
  EXPECT_EQ(points.back()[0], "1");
  EXPECT_EQ(points.back()[3], "16");
}

TEST(Sweep, ConstraintsDropPoints) {
  const auto points = values(kHead + R"(axes:
  - {name: a, knob: cores, range: {from: 1, to: 9, step: 1}}
  - {name: b, knob: core.sort.units, range: {from: 1, to: 9, step: 1}}
constraints: ["a * b <= 12", "a > b"]
)" + kWork);
  size_t wanted = 0;
  for (int a = 1; a <= 9; ++a)
    for (int b = 1; b <= 9; ++b) wanted += a * b <= 12 && a > b;
  EXPECT_EQ(points.size(), wanted);
}

TEST(Sweep, RandomPointsAreOfTheGridDifferentAndTheSeedsOwn) {
  const auto with = [](const std::string& random) {
    return values(kHead + "axes: [{name: a, knob: cores, range: {from: 1, to: 500, step: 1}}]\n" +
                  kWork + "random: " + random + "\n");
  };
  const auto once = with("{points: 100, seed: 7}");
  EXPECT_EQ(once.size(), 100u);
  EXPECT_EQ(std::set(once.begin(), once.end()).size(), 100u);
  EXPECT_EQ(once, with("{points: 100, seed: 7}"));
  EXPECT_NE(once, with("{points: 100, seed: 8}"));
  EXPECT_EQ(with("{points: 900}").size(), 500u);
}

TEST(Sweep, RefusesWhatItCannotUseWithItsPlace) {
  const std::vector<std::string> bad = {
      "axes: [{name: a, knob: cores}]\n" + kWork,
      "axes: [{name: a, knob: cores, list: []}]\n" + kWork,
      "axes: [{name: a, knob: cores, list: [1], log: {from: 1, to: 2, factor: 2}}]\n" + kWork,
      "axes: [{name: a, knob: cores, range: {from: 3, to: 1, step: 1}}]\n" + kWork,
      "axes: [{name: a, knob: cores, range: {from: 0, to: 1, step: 0}}]\n" + kWork,
      "axes: [{name: a, knob: cores, range: {from: 0, to: 1e9, step: 1}}]\n" + kWork,
      "axes: [{name: a, knob: cores, value: \"b + 1\"}]\n" + kWork,
      "axes: [{name: a, knob: cores, list: [1]}, {name: b, knob: chip.cores, list: [1]}]\n" + kWork,
      "axes: [{name: a, knob: cores, list: [1]}]\nconstraints: [\"a + 1\"]\n" + kWork,
      "axes: [{name: a, knob: cores, list: [1]}]\nworkloads: [{name: w, words: [check, x]}]\n",
      "axes: [{name: a, knob: cores, list: [1]}]\nworkloads: [{name: w, words: [run, x, "
      "--chip=y]}]\n",
      "axes: [{name: a, knob: cores, list: [1]}]\nworkloads: []\n",
      "axes: [{name: a, knob: chip, list: [mx-dma]}]\n" + kWork};
  for (const auto& text : bad) {
    const auto error = error_of([&] { read_sweep_text(kHead + text, "s.yaml"); });
    EXPECT_TRUE(is_positioned_sentence(error, "s.yaml")) << text << error;
  }
  EXPECT_NE(error_of([] {
              values(kHead +
                     "axes: [{name: m, knob: core.sort.method, list: [merge]}]\n"
                     "constraints: [\"m > 1\"]\n" +
                     kWork);
            }).find("is no number"),
            std::string::npos);
}

}  // namespace
}  // namespace daybreak::configs
