// In-order units on the bench: start and retirement cycles computed by hand from the datasheet.
#include <gtest/gtest.h>

#include "tests/sim/rig.hpp"

namespace daybreak::sim::test {
namespace {

using traces::Cause;

// Control issues entry i at cycle i + 1. 20 cycles start-up, 64 rows of 64 floats: 32 cycles.
TEST(InOrderUnit, InstructionsFollowOneAnother) {
  Rig rig;
  isa::TaskProgram p;
  add(p, vector_work(0, 64));
  add(p, vector_work(0, 64));
  const RunResult r = rig.run(p);
  EXPECT_EQ(rig.seen.at(0).issued, 1);
  EXPECT_EQ(rig.seen.at(0).started, 1);
  EXPECT_EQ(rig.seen.at(0).retired, 1 + 20 + 32);
  EXPECT_EQ(rig.seen.at(1).issued, 2);
  EXPECT_EQ(rig.seen.at(1).started, 53);
  EXPECT_EQ(rig.seen.at(1).retired, 105);
  EXPECT_EQ(r.cycles, 105);
  EXPECT_EQ(r.launches[0].instructions, 2);
}

TEST(InOrderUnit, SemaphoreCostsItsLatencyAndNamesTheProducer) {
  Rig rig;
  isa::TaskProgram p;
  add(p, matrix_work(0, 0, 65536, 64, 64, 64), {.signals = {0}, .label = "score"});
  add(p, vector_work(0, 64), {.waits = {0}});
  rig.run(p);
  // head 6 + 4 * 4 * 4 products
  EXPECT_EQ(rig.seen.at(0).retired, 1 + 6 + 64);
  EXPECT_EQ(rig.seen.at(1).started, 71 + 8);
  const auto causes = rig.seen.causes("chip.core0.vector");
  EXPECT_EQ(causes.at(Cause::semaphore), 79 - 2);
  EXPECT_EQ(causes.at(Cause::issue_order), 2);
  ASSERT_EQ(rig.seen.flows.size(), 1u);
  EXPECT_EQ(rig.seen.units[size_t(rig.seen.flows[0].from_unit)].path, "chip.core0.matrix");
  EXPECT_EQ(rig.seen.flows[0].from_time, 71);
  EXPECT_EQ(rig.seen.flows[0].to_time, 79);
  for (const auto& s : rig.seen.spans)
    if (s.cause == Cause::semaphore) {
      EXPECT_EQ(rig.seen.units[size_t(s.waits_for)].path, "chip.core0.matrix");
    }
}

// The operands of a small product fill the latches slower than the products run.
TEST(InOrderUnit, LatchFillBeyondTheProductsIsAnOperandStall) {
  Rig rig;
  isa::TaskProgram p;
  add(p, matrix_work(0, 0, 65536, 16, 16, 512));
  rig.run(p);
  // products 6 + 32; operands 2 * 16 * 512 * 2 B at 256 B/cycle = 128
  EXPECT_EQ(rig.seen.at(0).retired, 1 + 128);
  const auto causes = rig.seen.causes("chip.core0.matrix");
  EXPECT_EQ(causes.at(Cause::busy), 38);
  EXPECT_EQ(causes.at(Cause::operand_bank), 90);
}

TEST(InOrderUnit, DrainFreesTheUnitBeforeItsResultHasArrived) {
  Rig rig;
  isa::TaskProgram p;
  add(p,
      isa::Drain{.to = tile(isa::Space::vector, Format::f32, 0, 64, 64),
                 .from = tile(isa::Space::accumulator, Format::f32, 0, 64, 64)},
      {.signals = {0}});
  add(p, matrix_work(65536, 0, 65536, 64, 64, 64));
  add(p, vector_work(0, 64), {.waits = {0}});
  rig.run(p);
  // 16384 B at 128 B/cycle = 128 cycles (64 elements a cycle would be 64); path latency 40
  EXPECT_EQ(rig.seen.at(1).started, 1 + 128);
  EXPECT_EQ(rig.seen.at(0).retired, 1 + 128 + 40);
  EXPECT_EQ(rig.seen.at(2).started, 169 + 8);
}

TEST(InOrderUnit, SlotsOfOneUnitDoNotOverlap) {
  Rig rig;
  isa::TaskProgram p;
  for (int i = 0; i < 10; ++i)
    add(p, isa::Drain{.to = tile(isa::Space::vector, Format::f32, uint32_t(i) * 256, 1, 64),
                      .from = tile(isa::Space::accumulator, Format::f32, 0, 1, 64)});
  rig.run(p);
  bool second_slot = false;
  for (const auto& a : rig.seen.instructions)
    for (const auto& b : rig.seen.instructions) {
      second_slot = second_slot || a.slot > 0;
      if (a.entry < b.entry && a.slot == b.slot) { EXPECT_LE(a.retired, b.started); }
    }
  EXPECT_TRUE(second_slot);
}

TEST(InOrderUnit, UnsupportedFormatIsAnError) {
  Rig rig;
  isa::TaskProgram p;
  add(p, isa::Mma{.acc = tile(isa::Space::accumulator, Format::f32, 0, 16, 16),
                  .a = tile(isa::Space::operand, Format::f16, 0, 16, 16),
                  .b = tile(isa::Space::operand, Format::f16, 65536, 16, 16),
                  .b_transposed = 1});
  EXPECT_NE(rig.error(p).find("chip.core0.matrix"), std::string::npos) << rig.error(p);
}

}  // namespace
}  // namespace daybreak::sim::test
