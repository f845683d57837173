// The same inputs give the same bytes: against committed records (so dev, release and asan agree with each
// other), with the trace on and off, in another folder, under another locale and time zone, in both value
// modes. scripts/golden renews the committed records.
#include <gtest/gtest.h>

#include "tests/e2e/program.hpp"

namespace daybreak::tests {
namespace {

const std::vector<std::string> kRun{
    "day0",      "--model", DAYBREAK_SOURCE "/configs/models/deepseek-v3.2.json",
    "--context", "4096",    "--experts",
    "off"};

std::string record(std::vector<std::string> more, const std::vector<std::string>& environment = {},
                   const std::string& where = "") {
  const Folder out;
  auto words = kRun;
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"--out", out.path()});
  const auto run = run_program(words, environment, where);
  EXPECT_EQ(run.code, 0) << run.error << run.out;
  return read_text(out.path() + "/record.json") + read_text(out.path() + "/fused/record.json");
}

TEST(Determinism, RecordsEqualTheCommittedOnes) {
  const std::string golden =
      read_text(DAYBREAK_SOURCE "/traces/golden/day0-decode-4096/record.json") +
      read_text(DAYBREAK_SOURCE "/traces/golden/day0-decode-4096/fused/record.json");
  ASSERT_FALSE(golden.empty());
  EXPECT_EQ(record({}), golden);
}

TEST(Determinism, TraceFolderLocaleAndTimeZoneChangeNothing) {
  const std::string base = record({"--trace", "off"});
  const Folder elsewhere;
  EXPECT_EQ(record({}), base);
  EXPECT_EQ(
      record({"--trace", "task"}, {"LC_ALL=de_DE.UTF-8", "TZ=Asia/Kathmandu"}, elsewhere.path()),
      base);
}

// Cycles of every kernel and the totals, without what names the mode or the verdicts.
std::vector<std::string> cycles(const std::string& text) { return lines_with(text, "cycles\""); }

TEST(Determinism, SteeringTakesTheCyclesOfFull) {
  const auto full = cycles(record({"--trace", "off"}));
  ASSERT_FALSE(full.empty());
  EXPECT_EQ(cycles(record({"--trace", "off", "--values", "steering"})), full);
}

}  // namespace
}  // namespace daybreak::tests
