// A contiguous cache beside the block-sparse one: right values, and words that have no meaning.
#include <gtest/gtest.h>

#include "tests/e2e/program.hpp"

namespace daybreak::tests {
namespace {

TEST(Layouts, AContiguousCacheGivesRightValues) {
  const auto run = run_program({"run", "dsa_decode", "layout=contiguous", "reserve=4000", "batch=3",
                                "context=2500", "heads=16", "index_heads=16"});
  EXPECT_EQ(run.code, 0) << run.error << run.out;
  EXPECT_FALSE(lines_with(run.out, "pass  attention outputs").empty()) << run.out;
}

TEST(Layouts, WordsWithoutMeaningAreRefused) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"layout=contigous"},
                                             {"reserve=4000"},
                                             {"layout=contiguous", "reserve=100"},
                                             {"layout=contiguous", "page=64"},
                                             {"layout=contiguous", "steps=2"},
                                             {"layout=contiguous", "batch=100000"}}) {
    std::vector<std::string> all = {"run", "dsa_decode", "context=3000"};
    all.insert(all.end(), words.begin(), words.end());
    const auto run = run_program(all);
    EXPECT_EQ(run.code, 2) << words[0];
    EXPECT_FALSE(run.error.empty()) << words[0];
  }
}

}  // namespace
}  // namespace daybreak::tests
