// What `daybreak explain` says of every knob that `daybreak schema knobs` lists.
#include <gtest/gtest.h>

#include "tests/e2e/program.hpp"

namespace daybreak::tests {
namespace {

TEST(Explain, NamesTheStallCausesOfEveryKnob) {
  const auto rows = lines_with(run_program({"schema", "knobs"}).out, "`chip.");
  ASSERT_GT(rows.size(), 100u);
  for (const auto& row : rows) {
    const auto start = row.find('`') + 1;
    const auto knob = row.substr(start, row.find('`', start) - start);
    const auto run = run_program({"explain", knob});
    EXPECT_EQ(run.code, 0) << run.error;
    const auto moves = lines_with(run.out, "  moves    ");
    ASSERT_EQ(moves.size(), 1u) << knob;
    EXPECT_NE(moves[0].substr(11, 2), " (") << knob << ": no cause";
  }
  const auto outstanding = run_program({"explain", "core.dma.outstanding"});
  EXPECT_NE(outstanding.out.find("moves    outstanding limit ("), std::string::npos);
  const auto part = run_program({"explain", "core.dma"});
  EXPECT_EQ(part.out.find("moves"), std::string::npos) << "a part is listed, not explained";
}

}  // namespace
}  // namespace daybreak::tests
