// Prefill of sequences of several lengths: values against the reference, and the same bits whatever
// the windows, the groups and the streams.
#include <gtest/gtest.h>

#include "tests/e2e/program.hpp"

namespace daybreak::tests {
namespace {

std::vector<std::string> digests(std::vector<std::string> more) {
  std::vector<std::string> words = {"run", "dsa_prefill", "heads=16", "index_heads=16"};
  words.insert(words.end(), more.begin(), more.end());
  const auto run = run_program(words);
  EXPECT_EQ(run.code, 0) << run.error << run.out;
  EXPECT_TRUE(lines_with(run.out, "FAIL").empty()) << run.out;
  return lines_with(run.out, "digest of sequence");
}

TEST(Prefill, ShortSequencesAllRows) {
  const auto run = run_program({"run", "dsa_prefill", "lengths=1,63,64,65", "heads=128"});
  EXPECT_EQ(run.code, 0) << run.error << run.out;
  EXPECT_EQ(lines_with(run.out, "pass  ").size(), 8u) << run.out;
  EXPECT_TRUE(lines_with(run.out, "tokens)").empty()) << run.out;  // every row, no sample
}

TEST(Prefill, WindowsGroupsAndStreamsChangeNoBit) {
  const std::string lengths = "lengths=1,63,65,0,130";
  const auto whole = digests({lengths});
  EXPECT_EQ(whole.size(), 5u);
  for (const std::vector<std::string>& how :
       std::vector<std::vector<std::string>>{{"window=64"},
                                             {"window=13", "queries=3"},
                                             {"window=16", "pipelined=off"},
                                             {"window=1", "queries=1"},
                                             {"window=50", "page=61"}}) {
    std::vector<std::string> words = how;
    words.push_back(lengths);
    EXPECT_EQ(digests(words), whole) << how[0];
  }
}

TEST(Prefill, ChunksOfALongSelectionEqualOneShot) {
  const auto whole = digests({"lengths=2120"});
  EXPECT_EQ(digests({"lengths=2120", "window=2049"}), whole);
}

// What windows left out take is found from those beside them.
TEST(Prefill, WindowsThatAreLeftOutAreExtrapolated) {
  const auto time = [](std::vector<std::string> more) {
    std::vector<std::string> words = {"run",       "dsa_prefill", "lengths=1000",
                                      "window=25", "heads=16",    "--values",
                                      "steering",  "--index",     "local"};
    words.insert(words.end(), more.begin(), more.end());
    const auto run = run_program(words);
    EXPECT_EQ(run.code, 0) << run.error << run.out;
    const auto lines = lines_with(run.out, "prefill takes");
    EXPECT_EQ(lines.size(), 1u) << run.out;
    return lines.empty() ? 0.0 : std::stod(lines[0].substr(lines[0].find(':') + 2));
  };
  const double full = time({});
  EXPECT_NEAR(time({"simulated=24"}) / full, 1, 0.03);
  EXPECT_LT(full, time({"pipelined=off"}));
}

TEST(Prefill, NothingToDoAndWrongWords) {
  EXPECT_EQ(run_program({"run", "dsa_prefill", "lengths=0"}).code, 0);
  for (const char* words : {"lengths=1,,2", "lengths=-1", "lengths=", "queries=9", "window=x",
                            "simulated=4", "simulated=24"})
    EXPECT_EQ(run_program({"run", "dsa_prefill", words}).code, 2) << words;
}

}  // namespace
}  // namespace daybreak::tests
