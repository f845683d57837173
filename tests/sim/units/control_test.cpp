// Issue: one entry per issue_cycles, FIFO depth, scalar instructions, software descriptors.
#include <gtest/gtest.h>

#include "tests/sim/rig.hpp"

namespace daybreak::sim::test {
namespace {

using traces::Cause;

TEST(Control, IssuesOneEntryPerIssueCycles) {
  Rig rig;
  rig.config.core.control.issue_cycles = 7;
  isa::TaskProgram p;
  for (int i = 0; i < 4; ++i)
    add(p, i % 2 ? vector_work(0, 2) : matrix_work(0, 0, 65536, 16, 16, 16));
  rig.run(p);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(rig.seen.at(i).issued, 7 * (i + 1));
}

// Depth 2: entry k + 2 can enter when entry k has started.
TEST(Control, FullFifoStallsIssueOfEverybody) {
  Rig rig;
  rig.config.core.control.queue_depth = 2;
  isa::TaskProgram p;
  for (int i = 0; i < 5; ++i) add(p, vector_work(0, 64));
  add(p, matrix_work(0, 0, 65536, 16, 16, 16));
  rig.run(p);
  for (int i = 2; i < 5; ++i)
    EXPECT_EQ(rig.seen.at(i).issued,
              std::max(rig.seen.at(i - 2).started, rig.seen.at(i - 1).issued) + 1);
  EXPECT_EQ(rig.seen.at(5).issued, rig.seen.at(4).issued + 1);
  const auto control = rig.seen.causes("chip.core0.control");
  EXPECT_EQ(control.at(Cause::busy), 6);
  EXPECT_EQ(control.at(Cause::fifo_full), rig.seen.at(5).issued - 6);
  EXPECT_GT(rig.seen.causes("chip.core0.matrix").at(Cause::issue_order), 100);
}

TEST(Control, ScalarWorkAndLoadsDelayIssue) {
  Rig rig;
  isa::TaskProgram p;
  p.tensors.push_back(isa::tensor(rig.bind("n", 64), Format::i32, {1, 1}));
  add(p, isa::ScalarLoad{.from = {.tensor = 0}});
  add(p, isa::ScalarWork{.operations = 30});
  add(p, vector_work(0, 2));
  rig.run(p);
  EXPECT_EQ(rig.seen.at(0).retired, 60);
  EXPECT_EQ(rig.seen.at(1).retired, 90);
  EXPECT_EQ(rig.seen.at(2).issued, 91);
}

TEST(Control, WaitsForAndSignalsUnits) {
  Rig rig;
  isa::TaskProgram p;
  add(p, vector_work(0, 64), {.signals = {0}});
  add(p, isa::ScalarWork{.operations = 10}, {.waits = {0}, .signals = {1}});
  add(p, vector_work(65536, 64), {.waits = {1}});
  rig.run(p);
  EXPECT_EQ(rig.seen.at(1).started, 53 + 8);
  EXPECT_EQ(rig.seen.at(1).retired, 71);
  EXPECT_EQ(rig.seen.at(2).issued, 72);
  EXPECT_EQ(rig.seen.at(2).started, 71 + 8);
}

TEST(Control, SoftwareGatherCostsADescriptorPerRow) {
  Rig rig;
  std::vector<SeenBurst> bursts;
  rig.options.memory = fixed_memory(100, &bursts);
  isa::TaskProgram p;
  p.tensors.push_back(isa::tensor(rig.bind("rows", 1 << 20), Format::u8, {1024, 128}));
  p.tensors.push_back(isa::tensor(rig.bind("index", 4096), Format::i32, {1, 64}));
  add(p, isa::Gather{.to = tile(isa::Space::vector, Format::u8, 0, 64, 128),
                     .from = {.tensor = 0},
                     .index = {.tensor = 1},
                     .generation = {},
                     .requests = {},
                     .software = 1});
  add(p, vector_work(65536, 2));
  rig.run(p);
  EXPECT_EQ(rig.seen.at(0).issued, 60 + 64 * 20 + 1);
  EXPECT_EQ(bursts.size(), 64u);  // the engine does not read the index again
  EXPECT_EQ(rig.seen.at(1).issued, 60 + 64 * 20 + 2);
}

TEST(Control, ProgramOfScalarWorkAloneEnds) {
  Rig rig;
  isa::TaskProgram p;
  add(p, isa::ScalarWork{.operations = 500});
  EXPECT_EQ(rig.run(p).cycles, 500);
  EXPECT_EQ(rig.run(isa::TaskProgram{}).cycles, 0);
}

}  // namespace
}  // namespace daybreak::sim::test
