// Decode steps over a KV cache: values at every step, lists that are reused, speculation.
#include <gtest/gtest.h>

#include "tests/e2e/program.hpp"

namespace daybreak::tests {
namespace {

Outcome steps(std::vector<std::string> more) {
  std::vector<std::string> words = {"run", "dsa_decode", "heads=16", "index_heads=16"};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

// The number before `unit` in the first line that has `word`.
double figure(const std::string& text, const std::string& word, const std::string& unit) {
  const auto lines = lines_with(text, word);
  if (lines.empty()) return -1;
  const size_t end = lines[0].find(unit, lines[0].find(word) + word.size());
  const size_t start = lines[0].rfind(' ', end - 2);
  return end == std::string::npos ? -1 : std::stod(lines[0].substr(start + 1));
}

// Also where selection starts to leave positions out while the pages of index keys and latents differ (vllm
// PR#56381, PR#53906): what is past 2048 positions is found in both.
TEST(DecodeSteps, ExactStepsWithSpeculationAreRightAtEveryStep) {
  for (const char* page : {"page=64", "page=61"}) {
    const auto run = steps({"steps=24", "context=2040", "queries=4", "acceptance=60", page});
    EXPECT_EQ(run.code, 0) << run.error << run.out;
    EXPECT_TRUE(lines_with(run.out, "FAIL").empty()) << run.out;
    EXPECT_EQ(figure(run.out, "recall of the exact top-k", " %"), 100) << run.out;
    const double kept = figure(run.out, "  steps:", " tokens kept");
    EXPECT_GT(kept, 24) << run.out;
    EXPECT_LT(kept, 96) << run.out;
  }
}

TEST(DecodeSteps, AcceptanceAtItsEnds) {
  EXPECT_EQ(figure(steps({"steps=5", "context=100", "queries=3", "acceptance=0"}).out,
                   "  steps:", " tokens kept"),
            5);
  EXPECT_EQ(figure(steps({"steps=5", "context=100", "queries=3"}).out, "  steps:", " tokens kept"),
            15);
}

TEST(DecodeSteps, ReusedListsAreCheckedAndSaveTime) {
  const auto run = steps({"steps=9", "refresh=4", "context=6000", "queries=2", "acceptance=50",
                          "batch=2", "stream=overlap"});
  EXPECT_EQ(run.code, 0) << run.error << run.out;
  EXPECT_EQ(lines_with(run.out, "pass  reused selection").size(), 1u) << run.out;
  EXPECT_FALSE(lines_with(run.out, "3 exact, 6 with a reused list").empty()) << run.out;
  EXPECT_FALSE(lines_with(run.out, "merge_add (reused)").empty()) << run.out;
  const double recall = figure(run.out, "recall of the exact top-k", " %");
  EXPECT_GT(recall, 50) << run.out;
  EXPECT_LT(recall, 100) << run.out;
}

// Up to 2048 positions a list holds everything: reuse loses nothing.
TEST(DecodeSteps, ShortContextsLoseNothing) {
  const auto run = steps({"steps=6", "refresh=6", "context=1900", "stream=random"});
  EXPECT_EQ(figure(run.out, "recall of the exact top-k", " %"), 100) << run.out;
}

// Steering computes what selections are judged by, and takes as long.
TEST(DecodeSteps, SteeringGivesTheSameFigures) {
  const std::vector<std::string> words{"steps=5", "refresh=3", "context=5000", "stream=local"};
  auto steering = words;
  steering.insert(steering.end(), {"--values", "steering"});
  const auto full = steps(words).out, fast = steps(steering).out;
  for (const char* line : {"time per step", "recall", "attention mass", "kept from step"})
    EXPECT_EQ(lines_with(full, line)[0], lines_with(fast, line)[0]);
}

// Layers that share one selection prepare no index of their own.
TEST(DecodeSteps, LayersShareOneSelection) {
  const auto run = steps({"steps=2", "context=3000", "layers=3"});
  EXPECT_EQ(run.code, 0) << run.error << run.out;
  EXPECT_EQ(lines_with(run.out, "indexer_topk").size(), 2u) << run.out;  // table and waterfall
  EXPECT_EQ(lines_with(run.out, "sparse_mla").size(), 6u) << run.out;
}

TEST(DecodeSteps, WrongWordsAreRefused) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"steps=0"},
                                             {"refresh=4"},
                                             {"steps=4", "refresh=0"},
                                             {"steps=2", "stream=lokal"},
                                             {"steps=2", "acceptance=101"},
                                             {"steps=2", "refresh=256", "queries=2"},
                                             {"steps=2", "fused_topk=off"},
                                             {"steps=2", "--index", "random"}}) {
    const auto run = steps(words);
    EXPECT_EQ(run.code, 2) << words[0];
    EXPECT_FALSE(run.error.empty()) << words[0];
  }
}

}  // namespace
}  // namespace daybreak::tests
