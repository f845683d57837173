// Bank conflicts: the rule, operand by operand.
#include "sim/memory/scratchpad.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace daybreak::sim {
namespace {

isa::TileRef at(uint32_t offset, uint32_t bytes = 4096, isa::Space space = isa::Space::vector) {
  return {.space = space,
          .format = Format::f32,
          .offset = offset,
          .pitch = bytes,
          .rows = 1,
          .cols = bytes / 4};
}
double factor(std::vector<isa::TileRef> operands,
              const ScratchConfig& c = ChipConfig().core.scratch) {
  return bank_conflict_factor(operands, c);
}

TEST(BankConflicts, OperandsThatStartInOneBankTakeTurns) {
  EXPECT_EQ(factor({}), 1);
  EXPECT_EQ(factor({at(0)}), 1);
  EXPECT_EQ(factor({at(0), at(8192)}), 2);
  EXPECT_EQ(factor({at(0), at(8192), at(16384)}), 3);
  EXPECT_EQ(factor({at(0), at(8192 + 32), at(16384)}), 2);
  EXPECT_EQ(factor({at(0), at(8192 + 32), at(16384 + 64)}), 1);
  EXPECT_EQ(factor({at(0), at(8192 + 31)}), 2);    // inside the same bank word
  EXPECT_EQ(factor({at(0), at(16 * 32 * 5)}), 2);  // whole turns of all banks
}

TEST(BankConflicts, WhatDoesNotStreamDoesNotCount) {
  EXPECT_EQ(factor({at(0), at(8192, 4)}), 1);   // a broadcast scalar
  EXPECT_EQ(factor({at(0), at(8192, 32)}), 1);  // one bank word
  EXPECT_EQ(factor({at(0), at(8192, 64)}), 2);
  EXPECT_EQ(factor({at(0), at(0)}), 1);  // in place
  EXPECT_EQ(factor({at(0), at(0), at(8192)}), 2);
  EXPECT_EQ(factor({at(0), at(8192, 4096, isa::Space::accumulator)}), 1);
  EXPECT_EQ(factor({at(0), isa::TileRef{}, isa::TileRef{}}), 1);
}

TEST(BankConflicts, BankCountAndWidthAreKnobs) {
  ScratchConfig c = ChipConfig().core.scratch;
  c.banks = 1;
  EXPECT_EQ(factor({at(0), at(8192 + 32), at(16384 + 64)}, c), 3);
  c.banks = 3;
  EXPECT_EQ(factor({at(0), at(32), at(64)}, c), 1);
  EXPECT_EQ(factor({at(0), at(96)}, c), 2);
  c.bank_width = 64;
  EXPECT_EQ(factor({at(0), at(32)}, c), 2);
}

}  // namespace
}  // namespace daybreak::sim
