// The coarse scheduler: latencies, polls, streams, priorities, gangs, indirect grids.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/rig.hpp"

namespace daybreak::sim::test {
namespace {

using traces::Cause;

isa::Launch launch(uint32_t tasks) {
  isa::Launch l;
  l.kernel = "k";
  l.tasks = tasks;
  return l;
}
isa::TaskProgram scalar(int cycles) {
  isa::TaskProgram p;
  add(p, isa::ScalarWork{.operations = cycles});
  return p;
}
auto always(int cycles) {
  return [=](uint32_t, uint32_t, const isa::MemoryImage&) { return scalar(cycles); };
}
// One microsecond is 1000 cycles.
ChipConfig round_config(int cores) {
  ChipConfig c = bench_config(cores);
  c.clock_ghz = 1;
  return c;
}

TEST(Scheduler, LatenciesAddUpForOneTask) {
  Rig rig;
  rig.config = round_config(1);
  rig.config.scheduler = {.launch_us = 5,
                          .dispatch_cold_us = 2.3,
                          .dispatch_warm_us = 0.3,
                          .acknowledge_us = 0.6,
                          .poll_us = 0.1,
                          .threads = 1,
                          .streams = 8,
                          .core_semaphore_latency = 80};
  const RunResult r = rig.run({launch(2)}, always(1000));
  ASSERT_EQ(rig.seen.tasks.size(), 2u);
  EXPECT_EQ(r.launches[0].ready, 0);
  EXPECT_EQ(r.launches[0].started, 5000);
  EXPECT_EQ(rig.seen.tasks[0].dispatched, 5100);
  EXPECT_EQ(rig.seen.tasks[0].started, 7400);  // cold
  EXPECT_EQ(rig.seen.tasks[0].ended, 8400);
  // known at 9000, polled until 9100, dispatched 9200, warm
  EXPECT_EQ(rig.seen.tasks[1].dispatched, 9200);
  EXPECT_EQ(rig.seen.tasks[1].started, 9500);
  EXPECT_EQ(r.launches[0].ended, 10500 + 600 + 100);
  const auto vector = rig.seen.causes("chip.core0.vector");
  EXPECT_EQ(vector.at(Cause::no_task), 2000 + 600 + 100);  // in the tasks; after the last one
  EXPECT_EQ(vector.at(Cause::launch), r.cycles - 2700);
  EXPECT_EQ(rig.seen.causes("chip.scheduler").at(Cause::busy), 400);
}

// One thread hands out one task per poll, two threads two.
TEST(Scheduler, PollsLimitDispatch) {
  for (const int threads : {1, 2}) {
    Rig rig;
    rig.config = round_config(8);
    rig.config.scheduler.poll_us = 0.1;
    rig.config.scheduler.threads = threads;
    rig.run({launch(8)}, always(100000));
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(rig.seen.tasks[size_t(i)].dispatched, 100 * (i / threads + 1));
      EXPECT_EQ(rig.seen.tasks[size_t(i)].core, i);
    }
  }
}

TEST(Scheduler, StreamsRunInOrderAndSideBySide) {
  Rig rig;
  rig.config = round_config(4);
  std::vector<isa::Launch> l(3, launch(2));
  l[2].stream = 1;
  const RunResult r = rig.run(l, always(1000));
  EXPECT_EQ(r.launches[0].ended, 1000);
  EXPECT_EQ(r.launches[1].ready, 1000);
  EXPECT_EQ(r.launches[1].ended, 2000);
  EXPECT_EQ(r.launches[2].ended, 1000);
}

TEST(Scheduler, DependenciesCrossStreams) {
  Rig rig;
  rig.config = round_config(4);
  std::vector<isa::Launch> l(3, launch(1));
  for (uint32_t i = 0; i < 3; ++i) l[i].stream = i;
  l[0].after = {2};
  l[2].after = {1};
  const RunResult r = rig.run(l, always(1000));
  EXPECT_EQ(r.launches[1].ended, 1000);
  EXPECT_EQ(r.launches[2].ended, 2000);
  EXPECT_EQ(r.launches[0].ended, 3000);
  l[1].after = {0};
  EXPECT_THROW(rig.run(l, always(1)), InvariantError);
}

TEST(Scheduler, HigherPriorityTakesTheNextFreeCore) {
  Rig rig;
  rig.config = round_config(1);
  std::vector<isa::Launch> l(3, launch(3));
  l[1].stream = 1;
  l[2].stream = 2;
  l[2].priority = 5;
  rig.run(l, always(10));
  std::vector<int64_t> order;
  for (const auto& t : rig.seen.tasks) order.push_back(t.launch);
  EXPECT_EQ(order, (std::vector<int64_t>{2, 2, 2, 0, 0, 0, 1, 1, 1}));
}

TEST(Scheduler, GangStartsTogetherOnNeighbours) {
  Rig rig;
  rig.config = round_config(5);
  rig.config.scheduler.poll_us = 0.1;
  rig.config.scheduler.dispatch_cold_us = 1;
  isa::Launch g = launch(6);
  g.gang = 2;
  rig.run({g}, always(5000));
  ASSERT_EQ(rig.seen.tasks.size(), 6u);
  for (size_t i = 0; i < 6; ++i)
    for (size_t j = 0; j < 6; ++j)
      if (rig.seen.tasks[i].task % 2 == 0 && rig.seen.tasks[j].task == rig.seen.tasks[i].task + 1) {
        EXPECT_EQ(rig.seen.tasks[i].started, rig.seen.tasks[j].started);
        EXPECT_EQ(rig.seen.tasks[i].core + 1, rig.seen.tasks[j].core);
      }
  g.gang = 6;
  EXPECT_THROW(rig.run({g}, always(1)), InvariantError);
}

TEST(Scheduler, LaunchKeepsToItsCores) {
  Rig rig;
  rig.config = round_config(8);
  isa::Launch l = launch(6);
  l.cores = 2;
  const RunResult r = rig.run({l}, always(1000));
  for (const auto& t : rig.seen.tasks) EXPECT_LT(t.core, 2);
  EXPECT_EQ(r.cycles, 3000);
}

TEST(Scheduler, IndirectGridIsReadWhenDependenciesHaveEnded) {
  Rig rig;
  rig.config = round_config(4);
  const uint16_t b = rig.bind("grid", 64);
  std::vector<isa::Launch> l(2, launch(1));
  l[1].tasks = 99;
  l[1].grid = {.tensor = 0, .row = 0, .col = 3};
  l[1].grid_tensor = isa::tensor(b, Format::i32, {1, 8});
  // The first launch stores 5 at column 3.
  const auto make = [&](uint32_t which, uint32_t, const isa::MemoryImage&) {
    if (which == 1) return scalar(10);
    isa::TaskProgram p;
    p.tensors.push_back(isa::tensor(b, Format::i32, {1, 8}));
    const isa::TileRef one = tile(isa::Space::vector, Format::i32, 0, 1, 1);
    p.tensors.push_back(isa::tensor(uint16_t(1), Format::i32, {1, 1}));
    add(p, isa::Load{.to = one, .from = {.tensor = 1}}, {.signals = {0}});
    add(p, isa::Store{.to = {.tensor = 0, .row = 0, .col = 3}, .from = one}, {.waits = {0}});
    return p;
  };
  rig.bind("five", 64);
  rig.image.put<int32_t>(rig.bindings[1].base, 5);
  const RunResult r = rig.run(l, make);
  EXPECT_EQ(r.launches[1].tasks, 5);
  EXPECT_EQ(rig.seen.tasks.size(), 6u);
  rig.bindings[0].phantom = true;
  EXPECT_THROW(rig.run(l, make), InvariantError);
  rig.bindings[0].phantom = false;
  rig.image.put<int32_t>(rig.bindings[1].base, -1);
  EXPECT_THROW(rig.run(l, make), InvariantError);
}

TEST(Scheduler, LaunchWithoutTasksAndRunWithoutLaunchesEnd) {
  Rig rig;
  rig.config = round_config(2);
  rig.config.scheduler.launch_us = 5;
  EXPECT_EQ(rig.run({launch(0), launch(1)}, always(7)).cycles, 10007);
  EXPECT_EQ(rig.run({}, always(7)).cycles, 0);
  isa::Launch far = launch(1);
  far.stream = 8;
  EXPECT_THROW(rig.run({far}, always(7)), InvariantError);
}

}  // namespace
}  // namespace daybreak::sim::test
