// The main job on real model files: every kernel's values against the reference, in both launch forms.
#include <gtest/gtest.h>

#include "tests/e2e/program.hpp"

namespace daybreak::tests {
namespace {

const std::string kOurs = DAYBREAK_SOURCE "/configs/models/deepseek-v3.2.json";

void expect_all_pass(const std::vector<std::string>& words) {
  const auto run = run_program(words);
  EXPECT_EQ(run.code, 0) << run.error << run.out;
  EXPECT_TRUE(lines_with(run.out, "FAIL").empty()) << run.out;
  EXPECT_GE(lines_with(run.out, "pass  ").size(), 15u) << run.out;
  EXPECT_EQ(run.error, "");
}

TEST(Day0, DeepSeekAt32768) { expect_all_pass({"day0", "--model", kOurs, "--context", "32768"}); }

TEST(Day0, PublishedDeepSeek) {
  const auto file = data_file("models/deepseek-ai--DeepSeek-V3.2_config.json");
  if (file.empty()) GTEST_SKIP() << "published model files are not here (DAYBREAK_DATA)";
  expect_all_pass({"day0", "--model", file, "--context", "32768"});
}

TEST(Day0, PublishedGlmWithInterleavedIndexRope) {
  const auto file = data_file("models/zai-org--GLM-5.1_config.json");
  if (file.empty()) GTEST_SKIP() << "published model files are not here (DAYBREAK_DATA)";
  expect_all_pass({"day0", "--model", file, "--context", "32768"});
  const auto run = run_program({"day0", "--model", file, "--context", "100", "--json", "--form",
                                "fused", "--experts", "off"});
  EXPECT_FALSE(lines_with(run.out, "interleaved").empty());
}

TEST(Day0, LengthsAroundTilesAndPages) {
  for (const char* context : {"0", "1", "63", "64", "65", "2047", "2048", "2049", "5000"})
    for (const char* queries : {"1", "3", "8"}) {
      const auto run = run_program({"day0", "--model", kOurs, "--context", context, "--batch", "3",
                                    "--queries", queries, "--experts", "off"});
      EXPECT_EQ(run.code, 0) << "context " << context << " queries " << queries << "\n"
                             << run.error << run.out;
    }
}

TEST(Day0, EmptyBatch) {
  const auto run = run_program({"day0", "--model", kOurs, "--context", "4096", "--batch", "0"});
  EXPECT_EQ(run.code, 0) << run.error << run.out;
}

TEST(Day0, BatchAboveTheCores) {
  const auto run = run_program({"day0", "--model", kOurs, "--context", "2300", "--batch", "70",
                                "--form", "fused", "--experts", "off"});
  EXPECT_EQ(run.code, 0) << run.error << run.out;
}

TEST(Day0, ContextBeyondTheModelIsRefused) {
  const auto run = run_program({"day0", "--model", kOurs, "--context", "163841"});
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.error.find("--beyond-max"), std::string::npos) << run.error;
  const auto allowed =
      run_program({"day0", "--model", kOurs, "--context", "163841", "--beyond-max", "--values",
                   "steering", "--index", "random", "--form", "fused", "--experts", "off"});
  EXPECT_EQ(allowed.code, 0) << allowed.error;
}

TEST(Day0, TheSameKernelsLegalisedForAnotherChip) {
  expect_all_pass({"day0", "--model", kOurs, "--context", "8192", "--chip", "davinci-like-2"});
}

// Tasks of more steps than fit with long ones take short ones.
TEST(Day0, BatchesOnAChipWithSmallScratchpads) {
  for (const char* batch : {"2", "3", "30"}) {
    const auto run =
        run_program({"day0", "--model", kOurs, "--context", "2500", "--batch", batch, "--chip",
                     "davinci-like-2", "--form", "fused", "--experts", "off"});
    EXPECT_EQ(run.code, 0) << batch << run.error << run.out;
  }
}

TEST(Study, IndexOverheadHoldsOnDefaultKnobs) {
  const auto run = run_program({"study", DAYBREAK_SOURCE "/configs/studies/index-overhead.yaml"});
  EXPECT_EQ(run.code, 0) << run.out << run.error;
  EXPECT_EQ(lines_with(run.out, "holds  ").size(), 3u) << run.out;
}

TEST(Study, PublishedKernelsWithinAFactorOfTwo) {
  const auto run =
      run_program({"study", DAYBREAK_SOURCE "/configs/studies/calibration-davinci-like-2.yaml"});
  EXPECT_EQ(run.code, 0) << run.out << run.error;
  EXPECT_EQ(lines_with(run.out, "holds  ").size(), 2u) << run.out;
}

}  // namespace
}  // namespace daybreak::tests
