// Random legal programs: spans tile the run, FIFO and slot rules hold, reruns and both values
// modes agree.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/sim/rig.hpp"
#include "traces/analysis/stalls.hpp"

namespace daybreak::sim::test {
namespace {

using isa::Space;

// Entry i touches memory of its own, so that any order is legal.
isa::Instruction random_instruction(std::mt19937& random, size_t i) {
  const uint32_t place = uint32_t(i) * 1024, row = uint32_t(i) * 8;
  const isa::TileRef t = tile(Space::vector, Format::f32, place, 1 + random() % 8, 16);
  switch (random() % 7) {
    case 0: return isa::Load{.to = t, .from = {.tensor = 0, .row = row}};
    case 1: return isa::Store{.to = {.tensor = 0, .row = row}, .from = t};
    case 2: return matrix_work(place, place, place + 512, 4, 4, 16);
    case 3: return isa::ScalarWork{.operations = int32_t(random() % 50)};
    case 4:
      return isa::Drain{.to = t, .from = tile(Space::accumulator, Format::f32, place, t.rows, 16)};
    default: return isa::Fill{.to = t, .value = float(i)};
  }
}

// One semaphore per ordered pair of queues, at most one token of it on its way in program order.
isa::TaskProgram random_program(std::mt19937& random, uint16_t binding, size_t length) {
  isa::TaskProgram p;
  p.tensors.push_back(isa::tensor(binding, Format::f32, {4096, 16}));
  std::vector<isa::Instruction> list;
  for (size_t i = 0; i < length; ++i) list.push_back(random_instruction(random, i));
  std::vector<std::vector<int>> waits(length), signals(length);
  const auto next_of = [&](int queue, size_t from) {
    while (from < length && int(isa::queue_of(list[from])) != queue) ++from;
    return from;
  };
  for (int a = 0; a < isa::kQueues; ++a)
    for (int b = 0; b < isa::kQueues; ++b) {
      if (a == b) continue;
      for (size_t at = 0; at < length;) {
        const size_t from = next_of(a, at + random() % 12);
        const size_t to = next_of(b, from + 1 + random() % 12);
        if (to >= length) break;
        signals[from].push_back(a * isa::kQueues + b);
        waits[to].push_back(a * isa::kQueues + b);
        at = to;
      }
    }
  for (size_t i = 0; i < length; ++i)
    add(p, list[i],
        {.waits = waits[i],
         .signals = signals[i],
         .label = "e" + std::to_string(i),
         .fence = random() % 9 == 0,
         .live = random() % 2 == 0});
  return p;
}

struct RandomRun {
  Rig rig;
  std::vector<isa::Launch> launches;
  RunResult result;
};

// Programs of 40 entries and up to `spread` - 1 more.
void run(RandomRun& r, unsigned seed, Values values, unsigned spread = 200) {
  std::mt19937 random(seed);
  Rig& rig = r.rig;
  rig.config = bench_config(1 + random() % 4);
  rig.config.core.control.queue_depth = 1 + random() % 6;
  rig.config.core.control.semaphore_max = 1 + random() % 3;
  rig.config.core.dma.outstanding = 1 + random() % 8;
  rig.config.scheduler.launch_us = 0.2 * double(random() % 3);
  rig.config.scheduler.dispatch_cold_us = 0.1 * double(random() % 3);
  rig.config.scheduler.poll_us = 0.05 * double(random() % 3);
  rig.config.scheduler.acknowledge_us = 0.1 * double(random() % 2);
  rig.options.values = values;
  if (random() % 2) rig.options.memory = nullptr;
  std::vector<uint16_t> bindings;
  for (int i = 0; i < 24; ++i) bindings.push_back(rig.bind("b" + std::to_string(i), 4096 * 64));
  for (uint32_t l = 0; l < 4; ++l) {
    isa::Launch launch;
    launch.kernel = "random";
    launch.tasks = random() % 6;
    launch.stream = random() % 2;
    launch.priority = random() % 2;
    if (l == 3) launch.after = {uint32_t(random() % 3)};
    r.launches.push_back(launch);
  }
  r.result = rig.run(r.launches, [=](uint32_t l, uint32_t task, const isa::MemoryImage&) {
    std::mt19937 own(seed * 1000 + l * 10 + task);
    return random_program(own, bindings[l * 6 + task], 40 + own() % spread);
  });
}

void check_spans(const Recorder& seen) {
  std::map<int, int64_t> reached;
  for (const auto& s : seen.spans) {
    EXPECT_EQ(s.begin, reached[s.unit]) << seen.units[size_t(s.unit)].path;
    EXPECT_LT(s.begin, s.end);
    reached[s.unit] = s.end;
  }
  if (seen.cycles == 0) return;
  for (const auto& u : seen.units) EXPECT_EQ(reached[u.id], seen.cycles) << u.path;
}

void check_instructions(const RandomRun& r) {
  int64_t count = 0;
  for (const auto& l : r.result.launches) count += l.instructions;
  EXPECT_EQ(count, int64_t(r.rig.seen.instructions.size()));
  std::map<std::pair<std::string, int>, int64_t> slot_free;
  auto by_start = r.rig.seen.instructions;
  std::stable_sort(by_start.begin(), by_start.end(),
                   [](const auto& a, const auto& b) { return a.started < b.started; });
  for (const auto& i : by_start) {
    EXPECT_LE(i.issued, i.started);
    EXPECT_LE(i.started, i.retired);
    auto& free = slot_free[{i.unit, i.slot}];
    EXPECT_LE(free, i.started) << i.unit;
    free = i.retired;
  }
}

TEST(RandomPrograms, AccountsAddUp) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomRun r;
    run(r, seed, Values::full);
    check_spans(r.rig.seen);
    check_instructions(r);
    EXPECT_EQ(r.rig.seen.launches.size(), r.launches.size());
    for (size_t l = 0; l < r.launches.size(); ++l) {
      EXPECT_EQ(r.result.launches[l].tasks, r.launches[l].tasks);
      EXPECT_LE(r.result.launches[l].ended, r.result.cycles);
    }
  }
}

// The account that every report prints, against sums taken from the spans.
TEST(RandomPrograms, StallSumsEqualTheTotalOfAThousandRuns) {
  for (unsigned seed = 1001; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    RandomRun r;
    run(r, seed, Values::steering, 20);
    const Recorder& seen = r.rig.seen;
    traces::StallAccount account;
    for (const auto& unit : seen.units) account.unit(unit);
    for (const auto& span : seen.spans) account.span(span);
    account.end(r.result.cycles);
    std::map<int32_t, traces::CauseCycles> want;
    for (const auto& s : seen.spans) want[s.unit][size_t(s.cause)] += s.end - s.begin;
    for (const auto& unit : seen.units) {
      EXPECT_EQ(account.unit_cycles(unit.id), want[unit.id]) << unit.path;
      EXPECT_EQ(traces::total(account.unit_cycles(unit.id)), r.result.cycles) << unit.path;
    }
  }
}

TEST(RandomPrograms, RerunsAndValuesModesAgree) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    RandomRun a, b, c;
    run(a, seed, Values::full);
    run(b, seed, Values::full);
    run(c, seed, Values::steering);
    for (const RandomRun* other : {&b, &c}) {
      EXPECT_EQ(a.result.cycles, other->result.cycles);
      ASSERT_EQ(a.rig.seen.instructions.size(), other->rig.seen.instructions.size());
      for (size_t i = 0; i < a.rig.seen.instructions.size(); ++i) {
        EXPECT_EQ(a.rig.seen.instructions[i].started, other->rig.seen.instructions[i].started);
        EXPECT_EQ(a.rig.seen.instructions[i].retired, other->rig.seen.instructions[i].retired);
      }
    }
  }
}

}  // namespace
}  // namespace daybreak::sim::test
