// Counting semaphores and counters shared between cores, alone and on the chip.
#include <gtest/gtest.h>

#include "sim/core/counters.hpp"
#include "sim/core/semaphores.hpp"
#include "tests/sim/rig.hpp"

namespace daybreak::sim::test {
namespace {

using traces::Cause;

TEST(Semaphores, KthWaitTakesTheKthSignal) {
  Semaphores s(3, 8);
  s.begin_task(1);
  EXPECT_EQ(s.token_at(0, 0), kNever);
  s.give(0, {.given = 10, .unit = 1, .knowledge = {}});
  s.give(0, {.given = 20, .unit = 2, .knowledge = {}});
  EXPECT_EQ(s.token_at(0, 0), 18);
  EXPECT_EQ(s.token_at(0, 1), 28);
  EXPECT_EQ(s.take(0, 30).unit, 1);
  EXPECT_EQ(s.take(0, 31).unit, 2);
  EXPECT_EQ(s.token_at(0, 0), kNever);
}

TEST(Semaphores, SignalAtTheMaximumNeedsAWait) {
  Semaphores s(2, 0);
  s.begin_task(1);
  s.give(0, {.given = 1, .unit = 0, .knowledge = {}});
  EXPECT_EQ(s.room_at(0), 0);
  s.give(0, {.given = 2, .unit = 0, .knowledge = {}});
  EXPECT_EQ(s.room_at(0), kNever);
  s.take(0, 50);
  EXPECT_EQ(s.room_at(0), 50);
  s.begin_task(1);
  EXPECT_EQ(s.room_at(0), 0);
  EXPECT_EQ(s.token_at(0, 0), kNever);
}

TEST(Counters, WaitSeesTheValueNotTheTokens) {
  Counters c(1, 80);
  EXPECT_EQ(c.reached_at(0, 0), 0);
  EXPECT_EQ(c.reached_at(0, 1), kNever);
  c.signal(0, 100, 4, nullptr);
  c.signal(0, 130, 5, nullptr);
  EXPECT_EQ(c.reached_at(0, 1), 180);
  EXPECT_EQ(c.reached_at(0, 2), 210);
  EXPECT_EQ(c.reached_at(0, 1), 180);
  EXPECT_EQ(c.learn(0, 2, 210).unit, 5);
}

// The producer may be one instruction ahead: its third signal waits for the consumer's second wait.
TEST(Semaphores, FullSemaphoreBlocksItsQueue) {
  Rig rig;
  rig.config.core.control.semaphore_max = 1;
  isa::TaskProgram p;
  for (int i = 0; i < 3; ++i) {
    add(p, vector_work(uint32_t(i) * 65536, 2), {.signals = {0}});
    add(p, matrix_work(0, 0, 65536, 64, 64, 256), {.waits = {0}});
  }
  rig.run(p);
  // matrix 6 + 256; vector 20 + 1. The first retires at 22, the product starts at 30 and frees the
  // semaphore then; the second has retired at 43 and its token waits; the third is held until 292.
  EXPECT_EQ(rig.seen.at(0).retired, 22);
  EXPECT_EQ(rig.seen.at(1).started, 30);
  EXPECT_EQ(rig.seen.at(2).retired, 43);
  EXPECT_EQ(rig.seen.at(3).started, 292);
  EXPECT_EQ(rig.seen.at(4).started, 43);
  EXPECT_EQ(rig.seen.at(4).retired, 292);
  EXPECT_EQ(rig.seen.causes("chip.core0.vector").at(Cause::semaphore), 292 - 64);
}

TEST(Semaphores, SeveralWaitsOfOneEntryTakeSeveralTokens) {
  Rig rig;
  isa::TaskProgram p;
  add(p, vector_work(0, 2), {.signals = {0, 1}});
  add(p, vector_work(65536, 2), {.signals = {0}});
  add(p, matrix_work(0, 0, 65536, 16, 16, 16), {.waits = {0, 1, 0}});
  rig.run(p);
  EXPECT_EQ(rig.seen.at(2).started, rig.seen.at(1).retired + 8);
  EXPECT_EQ(rig.seen.flows.size(), 3u);
}

isa::Launch pair_of_tasks(uint32_t counters) {
  isa::Launch l;
  l.kernel = "pair";
  l.tasks = 2;
  l.shared_semaphores = counters;
  return l;
}

TEST(Counters, OrderCoresOfALaunch) {
  Rig rig;
  rig.config = bench_config(2);
  rig.run({pair_of_tasks(1)}, [](uint32_t, uint32_t task, const isa::MemoryImage&) {
    isa::TaskProgram p;
    if (task == 0) {
      add(p, isa::ScalarWork{.operations = 500});
      add(p, isa::Signal{.semaphore = 0, .in_queue = isa::Queue::dma_out});
      add(p, isa::Signal{.semaphore = 0, .in_queue = isa::Queue::dma_out});
    } else {
      add(p, isa::Wait{.semaphore = 0, .count = 2, .in_queue = isa::Queue::vector});
      add(p, vector_work(0, 2));
    }
    return p;
  });
  EXPECT_EQ(rig.seen.at(0, 1).started, rig.seen.at(2, 0).retired + 80);
  EXPECT_EQ(rig.seen.at(1, 1).started, rig.seen.at(0, 1).retired);
}

TEST(Counters, SignalFollowsEverythingEarlierInItsQueue) {
  Rig rig;
  isa::TaskProgram p;
  p.tensors.push_back(isa::tensor(rig.bind("x", 1 << 16), Format::f32, {64, 128}));
  add(p,
      isa::Store{.to = {.tensor = 0}, .from = tile(isa::Space::vector, Format::f32, 0, 64, 128)});
  add(p, isa::Signal{.semaphore = 0, .in_queue = isa::Queue::dma_out});
  rig.run({[] {
            isa::Launch l = pair_of_tasks(1);
            l.tasks = 1;
            return l;
          }()},
          [&](uint32_t, uint32_t, const isa::MemoryImage&) { return p; });
  EXPECT_GE(rig.seen.at(1).started, rig.seen.at(0).retired);
}

TEST(Counters, UnknownCounterIsAnError) {
  Rig rig;
  isa::TaskProgram p;
  add(p, isa::Signal{.semaphore = 0, .in_queue = isa::Queue::dma_out});
  EXPECT_NE(rig.error(p).find("shared counter 0"), std::string::npos) << rig.error(p);
}

}  // namespace
}  // namespace daybreak::sim::test
