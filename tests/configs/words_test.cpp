#include <gtest/gtest.h>

#include <map>
#include <random>

#include "configs/reader/setting.hpp"
#include "configs/reader/words.hpp"
#include "tests/configs/errors_of.hpp"

namespace daybreak::configs {
namespace {

// Edit distance straight from its recursive definition.
int slow_distance(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return int(a.size() + b.size());
  const std::string a1 = a.substr(1), b1 = b.substr(1);
  int best = std::min(
      {slow_distance(a1, b) + 1, slow_distance(a, b1) + 1, slow_distance(a1, b1) + (a[0] != b[0])});
  if (a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0])
    best = std::min(best, slow_distance(a.substr(2), b.substr(2)) + 1);
  return best;
}

TEST(Words, DistanceFollowsItsDefinition) {
  std::mt19937 random(3);
  for (int i = 0; i < 400; ++i) {
    std::string a, b;
    for (size_t n = random() % 6; n > 0; --n) a += char('a' + random() % 3);
    for (size_t n = random() % 6; n > 0; --n) b += char('a' + random() % 3);
    EXPECT_EQ(edit_distance(a, b), slow_distance(a, b)) << a << " " << b;
  }
}

TEST(Words, NearestNeedsToBeNear) {
  const std::vector<std::string> known = {"outstanding", "request", "row_issue"};
  EXPECT_EQ(nearest("outstandng", known), "outstanding");
  EXPECT_EQ(nearest("reqeust", known), "request");
  EXPECT_EQ(nearest("colour", known), "");
  EXPECT_EQ(nearest(std::string(1'000'000, 'x'), known), "");
  EXPECT_EQ(did_you_mean("requst", known), "; did you mean 'request'?");
}

TEST(Words, QuotesNothingThatBreaksALine) {
  EXPECT_EQ(in_quotes("a\nb\x7f"), "'a\\x0ab\\x7f'");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "'" + std::string(40, 'x') + "...'");
}

TEST(Words, NumbersReadBackTheSame) {
  for (const double value : {0.625, 16.0, -3.0, 100000.0, 1e30, 1.0 / 3, 0.0, 14.375})
    EXPECT_EQ(std::stod(number_text(value)), value);
  EXPECT_EQ(number_text(100000), "100000");
}

TEST(Settings, SplitAtTheFirstEqualsSign) {
  const Setting s = command_line_setting(" chip.l2.line = 256 B ");
  EXPECT_EQ(s.path, "chip.l2.line");
  EXPECT_EQ(s.value, "256 B");
  for (const char* text : {"", "chip.cores", "=3", "chip.cores="})
    EXPECT_NE(error_of([&] { command_line_setting(text); }), "") << text;
}

}  // namespace
}  // namespace daybreak::configs
