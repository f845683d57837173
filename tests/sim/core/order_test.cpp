// The happens-before checker: a wait that is missing is caught whatever the timing, a program with
// all its edges passes, and bytes that merely lie near one another do not matter.
#include <gtest/gtest.h>

#include "sim/core/scratch_order.hpp"
#include "tests/sim/rig.hpp"

namespace daybreak::sim::test {
namespace {

using isa::Space;

isa::Instruction relu(uint32_t to, uint32_t from) {
  return isa::Map{.to = tile(Space::vector, Format::f32, to, 16, 64),
                  .from = tile(Space::vector, Format::f32, from, 16, 64),
                  .function = isa::Function::relu};
}
isa::Instruction drain_to(uint32_t to) {
  return isa::Drain{.to = tile(Space::vector, Format::f32, to, 16, 64),
                    .from = tile(Space::accumulator, Format::f32, 0, 16, 64)};
}

// drain writes what the vector unit reads; `slow` puts work in front of either side.
isa::TaskProgram drain_then_read(bool edge, int slow) {
  isa::TaskProgram p;
  p.semaphores = 1;
  if (slow == 1) add(p, matrix_work(65536, 0, 65536, 64, 64, 512));
  if (slow == 2) add(p, vector_work(131072, 128));
  add(p, drain_to(0),
      {.signals = edge ? std::vector<int>{0} : std::vector<int>{}, .label = "scores"});
  add(p, relu(8192, 0), {.waits = edge ? std::vector<int>{0} : std::vector<int>{}, .label = "act"});
  return p;
}

TEST(ScratchOrder, MissingWaitIsCaughtWhateverTheTiming) {
  for (const int slow : {0, 1, 2}) {
    Rig rig;
    EXPECT_EQ(rig.error(drain_then_read(true, slow)), "");
    const std::string e = rig.error(drain_then_read(false, slow));
    EXPECT_NE(e.find("needs a signal from drain 'scores'"), std::string::npos) << e;
    EXPECT_NE(e.find("to map 'act'"), std::string::npos) << e;
    EXPECT_EQ(e.rfind("cycle ", 0), 0u) << e;
    EXPECT_NE(e.find("chip.core0."), std::string::npos) << e;
    rig.options.check_order = false;
    EXPECT_EQ(rig.error(drain_then_read(false, slow)), "");
  }
}

TEST(ScratchOrder, OverwritingWhatIsStillReadIsCaught) {
  Rig rig;
  isa::TaskProgram p;
  add(p, relu(8192, 0), {.label = "reader"});
  add(p, drain_to(0), {.label = "writer"});
  const std::string e = rig.error(p);
  EXPECT_NE(e.find("needs a signal from map 'reader'"), std::string::npos) << e;
}

TEST(ScratchOrder, EdgesAreTransitiveThroughOtherQueues) {
  Rig rig;
  isa::TaskProgram p;
  add(p, drain_to(0), {.signals = {0}});
  add(p, isa::ScalarWork{.operations = 1}, {.waits = {0}});
  add(p, relu(8192, 0));
  EXPECT_EQ(rig.error(p), "");
}

TEST(ScratchOrder, NeighboursDoNotConflict) {
  Rig rig;
  isa::TaskProgram p;
  add(p, drain_to(0));
  add(p, relu(8192, 4096));  // the drained tile ends at 4096
  EXPECT_EQ(rig.error(p), "");
  isa::TaskProgram q;
  add(q, drain_to(0));
  add(q, relu(8192, 4092));
  EXPECT_NE(rig.error(q), "");
}

TEST(ScratchOrder, SignalOfAnEarlierStepIsNoEdge) {
  Rig rig;
  isa::TaskProgram p;
  add(p, drain_to(0), {.signals = {0}, .label = "first"});
  add(p, drain_to(0), {.signals = {0}, .label = "second"});
  add(p, relu(8192, 0), {.waits = {0}, .label = "early"});
  const std::string e = rig.error(p);
  EXPECT_NE(e.find("second"), std::string::npos) << e;
}

isa::TaskProgram two_loads(uint16_t binding, bool fence) {
  isa::TaskProgram p;
  p.tensors.push_back(isa::tensor(binding, Format::f32, {16, 64}));
  const isa::Load load{.to = tile(Space::vector, Format::f32, 0, 16, 64), .from = {.tensor = 0}};
  add(p, load, {.label = "one"});
  add(p, load, {.label = "two", .fence = fence});
  return p;
}

TEST(ScratchOrder, DmaQueuesNeedAFence) {
  Rig rig;
  const uint16_t b = rig.bind("x", 65536);
  EXPECT_EQ(rig.error(two_loads(b, true)), "");
  EXPECT_NE(rig.error(two_loads(b, false)).find("needs a fence from load 'one'"),
            std::string::npos);
}

// Ten thousand random pairs of regions against a byte map.
TEST(ScratchOrder, AgreesWithAByteMap) {
  uint64_t state = 1;
  const auto next = [&](uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  ScratchOrder order;
  order.begin_task();
  constexpr int kBytes = 512;
  std::vector<Sequence> written(kBytes), read(kBytes);
  for (Sequence s = 1; s <= 3000; ++s) {
    const isa::TileRef t{.space = Space::vector,
                         .format = Format::u8,
                         .offset = uint32_t(next(200)),
                         .pitch = 16,
                         .rows = 1 + uint32_t(next(8)),
                         .cols = 1 + uint32_t(next(16))};
    const bool writes = next(3) == 0;
    Sequences seen{};
    seen[int(isa::Queue::matrix)] = s - 1 - Sequence(next(std::min<uint64_t>(s, 20)));
    bool expected = false;
    const auto each = [&](auto&& f) {
      for (uint32_t r = 0; r < t.rows; ++r)
        for (uint32_t c = 0; c < t.cols; ++c) f(size_t(t.offset + r * t.pitch + c));
    };
    each([&](size_t b) {
      expected = expected || written[b] > seen[int(isa::Queue::matrix)] ||
                 (writes && read[b] > seen[int(isa::Queue::matrix)]);
    });
    EXPECT_EQ(order.check(t, writes, seen).found, expected) << s;
    order.record(t, !writes, writes, isa::Queue::matrix, s);
    each([&](size_t b) { (writes ? written : read)[b] = s; });
  }
}

struct MemoryRig : Rig {
  uint16_t a = bind("a", 65536);
  isa::Launch launch(uint32_t tasks) {
    isa::Launch l;
    l.kernel = "k";
    l.tasks = tasks;
    l.shared_semaphores = 1;
    return l;
  }
  isa::TaskProgram program() {
    isa::TaskProgram p;
    p.tensors.push_back(isa::tensor(a, Format::f32, {64, 4}));
    return p;
  }
  isa::Instruction store(int64_t row) {
    return isa::Store{.to = {.tensor = 0, .row = row},
                      .from = tile(Space::vector, Format::f32, 0, 1, 4)};
  }
  isa::Instruction load(int64_t row) {
    return isa::Load{.to = tile(Space::vector, Format::f32, 4096, 1, 4),
                     .from = {.tensor = 0, .row = row}};
  }
  std::string error_of(
      std::vector<isa::Launch> l,
      std::function<isa::TaskProgram(uint32_t, uint32_t, const isa::MemoryImage&)> f) {
    try {
      run(std::move(l), std::move(f));
    } catch (const InvariantError& e) { return e.what(); }
    return "";
  }
};

TEST(MemoryOrder, TasksOfALaunchMayShareALineButNotAByte) {
  MemoryRig rig;
  rig.config = bench_config(4);
  const auto make = [&](int64_t same) {
    return [&rig, same](uint32_t, uint32_t task, const isa::MemoryImage&) {
      isa::TaskProgram p = rig.program();
      add(p, rig.store(same >= 0 ? same : task));
      return p;
    };
  };
  EXPECT_EQ(rig.error_of({rig.launch(4)}, make(-1)), "");
  const std::string e = rig.error_of({rig.launch(4)}, make(7));
  EXPECT_NE(e.find("memory at a+112"), std::string::npos) << e;
  EXPECT_NE(e.find("needs a signal"), std::string::npos) << e;
}

TEST(MemoryOrder, SharedCounterIsAnEdge) {
  for (const bool edge : {true, false}) {
    MemoryRig rig;
    rig.config = bench_config(2);
    const std::string e =
        rig.error_of({rig.launch(2)}, [&](uint32_t, uint32_t task, const isa::MemoryImage&) {
          isa::TaskProgram p = rig.program();
          if (task == 0) {
            add(p, rig.store(3));
            add(p, isa::Signal{.semaphore = 0, .in_queue = isa::Queue::dma_out});
          } else {
            if (edge) add(p, isa::Wait{.semaphore = 0, .count = 1, .in_queue = isa::Queue::dma_in});
            add(p, isa::ScalarWork{.operations = 2000});
            add(p, rig.load(3));
          }
          return p;
        });
    EXPECT_EQ(e.empty(), edge) << e;
    if (!edge) {
      EXPECT_NE(e.find("from store"), std::string::npos) << e;
      EXPECT_NE(e.find("to load"), std::string::npos) << e;
    }
  }
}

TEST(MemoryOrder, LaunchesAreOrderedByStreamsAndDependenciesOnly) {
  for (const int how : {0, 1, 2}) {  // same stream; dependency; neither
    MemoryRig rig;
    rig.config = bench_config(2);
    std::vector<isa::Launch> l(2, rig.launch(1));
    if (how > 0) l[1].stream = 1;
    if (how == 1) l[1].after = {0};
    const std::string e = rig.error_of(l, [&](uint32_t which, uint32_t, const isa::MemoryImage&) {
      isa::TaskProgram p = rig.program();
      if (which == 1) add(p, isa::ScalarWork{.operations = 5000});
      add(p, which == 0 ? rig.store(3) : rig.load(3));
      return p;
    });
    EXPECT_EQ(e.empty(), how < 2) << how << " " << e;
    if (how == 2) { EXPECT_NE(e.find("needs a dependency"), std::string::npos) << e; }
  }
}

TEST(MemoryOrder, StoreAfterLoadInTheOtherQueueNeedsAnEdge) {
  for (const bool edge : {true, false}) {
    MemoryRig rig;
    isa::TaskProgram p = rig.program();
    p.semaphores = 1;
    add(p, rig.load(3), {.signals = edge ? std::vector<int>{0} : std::vector<int>{}});
    add(p, rig.store(3), {.waits = edge ? std::vector<int>{0} : std::vector<int>{}});
    EXPECT_EQ(rig.error(p).empty(), edge);
  }
}

}  // namespace
}  // namespace daybreak::sim::test
