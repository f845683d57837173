// The accounting against sums taken cycle by cycle from the spans themselves.
#include "traces/analysis/stalls.hpp"

#include <gtest/gtest.h>

#include <set>

#include "configs/reader/errors.hpp"
#include "event_stream.hpp"

namespace daybreak::traces {
namespace {

class RandomRun : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Seeds, RandomRun, testing::Range(0, 60));

TEST_P(RandomRun, EveryUnitsCyclesAddUpToTheRun) {
  const EventStream stream = random_stream(uint64_t(GetParam()));
  StallAccount account;
  stream.play(account);
  EXPECT_EQ(account.cycles(), stream.cycles);
  for (const UnitInfo& unit : stream.units) {
    CauseCycles want{};
    for (const UnitSpan& s : stream.spans)
      if (s.unit == unit.id)
        for (int64_t c = s.begin; c < s.end; ++c) ++want[size_t(s.cause)];
    EXPECT_EQ(account.unit_cycles(unit.id), want) << unit.path;
    EXPECT_EQ(total(account.unit_cycles(unit.id)), stream.cycles) << unit.path;
  }
}

TEST_P(RandomRun, LaunchesGetExactlyTheSpansThatNameThem) {
  const EventStream stream = random_stream(uint64_t(GetParam()) + 1000);
  StallAccount account;
  stream.play(account);
  for (const LaunchAccount& launch : account.launches()) {
    std::set<int32_t> cores;
    int64_t tasks = 0;
    for (const TaskEvent& t : stream.tasks)
      if (t.launch == launch.launch) cores.insert(t.core), ++tasks;
    EXPECT_EQ(launch.tasks, tasks);
    EXPECT_EQ(launch.cores, int64_t(cores.size()));
    EXPECT_EQ(launch.kernel, stream.launches[size_t(launch.launch)].kernel);
    EXPECT_EQ(launch.kinds.size(), 6u);  // the scheduler belongs to no core
    for (const KindAccount& kind : launch.kinds) {
      CauseCycles all{}, ran{};
      std::map<std::string, int64_t> waits;
      int64_t units = 0, units_ran = 0;
      for (const UnitInfo& unit : stream.units) {
        if (unit.kind != kind.kind) continue;
        ++units;
        units_ran += cores.contains(unit.core);
        for (const UnitSpan& s : stream.spans) {
          if (s.unit != unit.id || s.launch != launch.launch) continue;
          all[size_t(s.cause)] += s.end - s.begin;
          if (!cores.contains(unit.core)) continue;
          ran[size_t(s.cause)] += s.end - s.begin;
          if (s.cause == Cause::busy || s.waits_for == kNone) continue;
          for (const UnitInfo& who : stream.units)
            if (who.id == s.waits_for) waits[who.kind] += s.end - s.begin;
        }
      }
      EXPECT_EQ(kind.units, units);
      EXPECT_EQ(kind.units_ran, units_ran);
      EXPECT_EQ(kind.all, all) << kind.kind;
      EXPECT_EQ(kind.ran, ran) << kind.kind;
      EXPECT_EQ(kind.waits_for, waits) << kind.kind;
    }
  }
}

// What the accounting says about a run of one unit with these spans; empty: it accepts them.
std::string complaint(const std::vector<UnitSpan>& spans, int64_t cycles) {
  StallAccount account;
  account.unit({.id = 4, .core = 0, .path = "chip.core0.matrix", .kind = "chip.core.matrix"});
  try {
    for (const UnitSpan& s : spans) account.span(s);
    account.end(cycles);
  } catch (const InvariantError& error) { return error.what(); }
  return "";
}

TEST(StallAccount, GapOverlapAndMissingEndAreErrorsThatNameTheUnit) {
  EXPECT_EQ(complaint({{.unit = 4, .begin = 0, .end = 5}, {.unit = 4, .begin = 5, .end = 9}}, 9),
            "");
  const std::vector<std::vector<UnitSpan>> bad = {
      {{.unit = 4, .begin = 0, .end = 5}, {.unit = 4, .begin = 6, .end = 9}},
      {{.unit = 4, .begin = 0, .end = 5}, {.unit = 4, .begin = 4, .end = 9}},
      {{.unit = 4, .begin = 1, .end = 9}},
      {{.unit = 4, .begin = 0, .end = 8}},
      {{.unit = 4, .begin = 0, .end = 5}, {.unit = 4, .begin = 5, .end = 3}},
      {}};
  for (const auto& spans : bad)
    EXPECT_NE(complaint(spans, 9).find("chip.core0.matrix"), std::string::npos);
  EXPECT_NE(complaint({{.unit = 5, .begin = 0, .end = 9}}, 9).find("never announced"),
            std::string::npos);
}

TEST(StallAccount, TopStallIgnoresBusyAndPrefersTheFirstOfEquals) {
  CauseCycles c{};
  EXPECT_EQ(top_stall(c), Cause::busy);
  c[size_t(Cause::busy)] = 100;
  EXPECT_EQ(top_stall(c), Cause::busy);
  c[size_t(Cause::refresh)] = 3;
  c[size_t(Cause::noc)] = 3;
  EXPECT_EQ(top_stall(c), Cause::noc);
  c[size_t(Cause::refresh)] = 4;
  EXPECT_EQ(top_stall(c), Cause::refresh);
}

TEST(StallAccount, BoundingKindIsTheOneThatWorksOrWaitsForDataMost) {
  StallAccount account;
  account.unit({.id = 0, .core = 0, .path = "chip.core0.dma_in", .kind = "chip.core.dma_in"});
  account.unit({.id = 1, .core = 0, .path = "chip.core0.matrix", .kind = "chip.core.matrix"});
  account.span({.unit = 0, .begin = 0, .end = 40, .cause = Cause::busy, .launch = 0});
  account.span({.unit = 0, .begin = 40, .end = 90, .cause = Cause::hbm_row, .launch = 0});
  account.span({.unit = 0, .begin = 90, .end = 100, .cause = Cause::semaphore, .launch = 0});
  account.span({.unit = 1, .begin = 0, .end = 60, .cause = Cause::busy, .launch = 0});
  account.span({.unit = 1, .begin = 60, .end = 100, .cause = Cause::semaphore, .launch = 0});
  account.task({.core = 0, .launch = 0, .task = 0, .dispatched = 0, .started = 0, .ended = 100});
  account.launch({.launch = 0, .kernel = "k", .ready = 0, .started = 0, .ended = 100, .tasks = 1});
  account.end(100);
  const LaunchAccount launch = account.launch_account(0);
  ASSERT_NE(launch.bounding(), nullptr);
  EXPECT_EQ(launch.bounding()->word(), "dma_in");
  EXPECT_DOUBLE_EQ(launch.kind("matrix")->busy_share(), 0.6);
  EXPECT_EQ(launch.kind("sort"), nullptr);
  EXPECT_THROW(account.launch_account(1), InvariantError);
}

TEST(StallAccount, ReadingBeforeTheEndIsRefused) {
  StallAccount account;
  EXPECT_THROW(account.launches(), InvariantError);
}

}  // namespace
}  // namespace daybreak::traces
