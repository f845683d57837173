// The whole chip: deadlocks, errors, values modes, accounting, several chips in one process, speed.
#include <gtest/gtest.h>

#include <ctime>

#include "tests/sim/rig.hpp"

namespace daybreak::sim::test {
namespace {

using isa::Space;

TEST(Deadlock, NamesWhoWaitsForWhom) {
  Rig rig;
  isa::TaskProgram p;
  add(p, vector_work(0, 2), {.waits = {0}, .signals = {1}, .label = "left"});
  add(p, matrix_work(0, 0, 65536, 16, 16, 16), {.waits = {1}, .signals = {0}, .label = "right"});
  const std::string e = rig.error(p);
  EXPECT_NE(e.find("deadlock"), std::string::npos) << e;
  EXPECT_NE(
      e.find("chip.core0.vector: fill 'left' (entry 0, queue vector, task 0 of launch 0) waits for "
             "semaphore 0, which mma 'right' (entry 1"),
      std::string::npos)
      << e;
  EXPECT_NE(
      e.find("chip.core0.matrix: mma 'right' (entry 1, queue matrix, task 0 of launch 0) waits for "
             "semaphore 1, which fill 'left'"),
      std::string::npos)
      << e;
}

TEST(Deadlock, NothingSignals) {
  Rig rig;
  isa::TaskProgram p;
  add(p, vector_work(0, 2), {.waits = {3}});
  EXPECT_NE(rig.error(p).find("semaphore 3, which nothing signals"), std::string::npos);
}

TEST(Deadlock, SharedCounterAndFullFifoAreNamed) {
  Rig rig;
  rig.config.core.control.queue_depth = 1;
  isa::Launch l;
  l.kernel = "k";
  l.tasks = 1;
  l.shared_semaphores = 1;
  isa::TaskProgram p;
  add(p, isa::Wait{.semaphore = 0, .count = 4, .in_queue = isa::Queue::dma_in});
  add(p, isa::Wait{.semaphore = 0, .count = 4, .in_queue = isa::Queue::dma_in});
  std::string e;
  try {
    rig.run({l}, [&](uint32_t, uint32_t, const isa::MemoryImage&) { return p; });
  } catch (const InvariantError& error) { e = error.what(); }
  EXPECT_NE(e.find("shared counter 0 to reach 4, it is 0"), std::string::npos) << e;
  EXPECT_NE(e.find("the FIFO of dma_in is full"), std::string::npos) << e;
  EXPECT_NE(e.find("launch 0 (k): 1 of 1 tasks dispatched, 0 acknowledged"), std::string::npos)
      << e;
}

// Memory that never answers while its clock goes on.
class Silent : public MemoryBackend {
  struct Ticking : sc_core::sc_module, MemoryPort {
    explicit Ticking(const sc_core::sc_module_name& n) : sc_core::sc_module(n) {
      SC_HAS_PROCESS(Ticking);
      SC_METHOD(tick);
    }
    void tick() { next_trigger(1, sc_core::SC_US); }
    void submit(std::span<const Burst>, MemoryClient&) override {}
  };
  Ticking port_{"port"};
  MemoryPort& port(int) override { return port_; }
};

TEST(Deadlock, WatchdogSeesThatNothingRetires) {
  Rig rig;
  rig.options.memory = [](const ChipConfig&) { return std::make_unique<Silent>(); };
  rig.options.watchdog = 20000;
  isa::TaskProgram p;
  p.tensors.push_back(isa::tensor(rig.bind("x", 65536), Format::f32, {16, 64}));
  add(p, isa::Load{.to = tile(Space::vector, Format::f32, 0, 16, 64), .from = {.tensor = 0}},
      {.label = "lost"});
  const std::string e = rig.error(p);
  EXPECT_NE(e.find("no instruction has retired for 20000 cycles"), std::string::npos) << e;
  EXPECT_NE(e.find("load 'lost' (entry 0, queue dma_in, task 0 of launch 0) waits for memory"),
            std::string::npos)
      << e;
}

TEST(Chip, TaskThatDoesNotFitIsRefused) {
  Rig rig;
  isa::TaskProgram p;
  p.kernel = "big";
  p.scratch[int(Space::vector)] = Bytes(1 << 30);
  EXPECT_NE(rig.error(p).find("vector scratchpad"), std::string::npos) << rig.error(p);
  isa::TaskProgram q;
  q.semaphores = 65;
  EXPECT_NE(rig.error(q).find("65 semaphores"), std::string::npos) << rig.error(q);
}

// x -> x + x through two queues and memory; both launches.
struct Doubling {
  Rig rig;
  uint16_t x = rig.bind("x", 4096), y = rig.bind("y", 4096);
  isa::TaskProgram program(bool live) {
    isa::TaskProgram p;
    p.tensors = {isa::tensor(x, Format::f32, {4, 64}), isa::tensor(y, Format::f32, {4, 64})};
    const isa::TileRef a = tile(Space::vector, Format::f32, 0, 4, 64),
                       b = tile(Space::vector, Format::f32, 8192, 4, 64);
    add(p, isa::Load{.to = a, .from = {.tensor = 0}}, {.signals = {0}, .live = live});
    add(p, isa::Combine{.to = b, .a = a, .b = a}, {.waits = {0}, .signals = {1}, .live = live});
    add(p, isa::Store{.to = {.tensor = 1}, .from = b}, {.waits = {1}, .live = live});
    return p;
  }
  float result(int i) {
    return rig.image.get<float>(Address(rig.bindings[1].base.value + uint64_t(i) * 4));
  }
};

TEST(Chip, ValuesAreComputedAtRetirement) {
  Doubling d;
  for (int i = 0; i < 256; ++i)
    d.rig.image.put<float>(Address(d.rig.bindings[0].base.value + uint64_t(i) * 4), float(i));
  d.rig.run(d.program(true));
  for (int i = 0; i < 256; ++i) EXPECT_EQ(d.result(i), 2 * float(i));
}

TEST(Chip, SteeringLeavesValuesOutAndKeepsTheCycles) {
  Doubling full, steering;
  for (Doubling* d : {&full, &steering}) d->rig.image.put<float>(d->rig.bindings[0].base, 21.f);
  steering.rig.options.values = Values::steering;
  const RunResult a = full.rig.run(full.program(false)),
                  b = steering.rig.run(steering.program(false));
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(full.result(0), 42.f);
  EXPECT_EQ(steering.result(0), 0.f);
}

TEST(Chip, StaleIndexTableStopsTheRun) {
  Rig rig;
  isa::TaskProgram p;
  p.tensors = {isa::tensor(rig.bind("rows", 65536), Format::u8, {64, 128}),
               isa::tensor(rig.bind("index", 64), Format::i32, {1, 4}),
               isa::tensor(rig.bind("stamp", 64), Format::i32, {1, 2}),
               isa::tensor(rig.bind("requests", 64), Format::i32, {1, 4})};
  rig.image.put<int32_t>(rig.bindings[2].base, 7);
  rig.image.put<int32_t>(Address(rig.bindings[3].base.value + 8), 8);
  add(p, isa::Gather{.to = tile(Space::vector, Format::u8, 0, 4, 128),
                     .from = {.tensor = 0},
                     .index = {.tensor = 1},
                     .generation = {.tensor = 2},
                     .requests = {.tensor = 3}});
  const std::string e = rig.error(p);
  EXPECT_NE(e.find("chip.core0.dma_in"), std::string::npos) << e;
  EXPECT_NE(e.find("stale index table"), std::string::npos) << e;
}

TEST(Chip, RunsOfRealMemoryAreReproducible) {
  Doubling d;
  d.rig.options.memory = nullptr;
  const RunResult a = d.rig.run(d.program(true));
  const auto spans = d.rig.seen.spans.size();
  const RunResult b = d.rig.run(d.program(true));
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(spans, d.rig.seen.spans.size());
  EXPECT_GT(a.cycles, 400);
  EXPECT_EQ(a.launches[0].read_bytes, 1024);
  EXPECT_EQ(a.launches[0].l2_misses, b.launches[0].l2_misses);
}

TEST(Chip, ObserversDoNotChangeTheRun) {
  Doubling d;
  d.rig.options.memory = nullptr;
  const RunResult a = d.rig.run(d.program(true));
  Programs programs;
  programs.make = [&](uint32_t, uint32_t, const isa::MemoryImage&) { return d.program(true); };
  Chip chip(d.rig.config, d.rig.image, d.rig.bindings, programs, d.rig.options);
  isa::Launch l;
  l.tasks = 1;
  const RunResult b = chip.run(std::span(&l, 1));
  EXPECT_EQ(a.cycles, b.cycles);
  EXPECT_EQ(chip.run(std::span(&l, 1)).cycles, b.cycles);
}

// The aim is 1 M/s in a release build; the limit only catches a rate that has collapsed, in any build.
TEST(Chip, SimulatesManyInstructionsPerSecond) {
  Rig rig;
  isa::TaskProgram p;
  for (int i = 0; i < 1000; ++i) {
    add(p, matrix_work(0, 0, 65536, 16, 16, 16), {.signals = {0}});
    add(p,
        isa::Drain{.to = tile(Space::vector, Format::f32, 0, 16, 16),
                   .from = tile(Space::accumulator, Format::f32, 0, 16, 16)},
        {.waits = i ? std::vector<int>{2} : std::vector<int>{}, .signals = {1}});
    add(p,
        isa::Map{.to = tile(Space::vector, Format::f32, 65536, 16, 16),
                 .from = tile(Space::vector, Format::f32, 0, 16, 16)},
        {.waits = {0, 1}, .signals = {2}});
  }
  for (auto& e : p.code) e.live = false;
  rig.options.values = Values::steering;
  Programs programs;
  programs.make = [&](uint32_t, uint32_t, const isa::MemoryImage&) { return p; };
  Chip chip(rig.config, rig.image, rig.bindings, programs, rig.options);
  isa::Launch l;
  l.tasks = 200;
  const std::clock_t begin = std::clock();
  const RunResult r = chip.run(std::span(&l, 1));
  const double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  RecordProperty("instructions_per_second", int(double(r.launches[0].instructions) / seconds));
  std::printf("%.2f M instructions/s\n", double(r.launches[0].instructions) / seconds / 1e6);
  EXPECT_EQ(r.launches[0].instructions, 600000);
  EXPECT_LT(seconds, 60);
}

}  // namespace
}  // namespace daybreak::sim::test
