// What is replayed is what was reported, field by field; a file that is not whole is refused.
#include "traces/event/event_file.hpp"

#include <gtest/gtest.h>

#include "configs/reader/errors.hpp"
#include "keeper.hpp"
#include "temporary_folder.hpp"
#include "traces/event/atomic_file.hpp"

namespace daybreak::traces {
namespace {

RunFacts some_facts() {
  return {.chip = "a chip",
          .clock_hz = 1.65e9,
          .hbm_bytes_per_second = 1.5e12,
          .flops = 8e14,
          .kernels = {"kernel_0", ""},
          .knobs = {{"chip.cores", "32"}, {"chip.clock", "1.65"}}};
}

// A random stream with the fields that the simulator fills for each kind of unit.
EventStream rich_stream(uint64_t seed) {
  EventStream stream = random_stream(seed);
  std::mt19937_64 random(seed);
  for (InstructionEvent& e : stream.instructions) {
    e.descriptors = int64_t(random() % 50);
    if (random() % 2) {
      e.parts = {.fixed = int64_t(random() % 9),
                 .streamed = int64_t(random() % 1000),
                 .stalled = int64_t(random() % 3),
                 .tail = int64_t(random() % 40)};
      continue;
    }
    e.move = {.named = e.started,
              .began = random() % 3 ? e.started : kNone,
              .allowed = kNone,
              .asked = e.retired,
              .landed = e.retired,
              .decoding = 20,
              .issuing = 3,
              .requests = int64_t(random() % 100),
              .walks = random() % 2 == 0,
              .share = Share(random() % 3),
              .unloaded = int32_t(random() % 300)};
    for (int32_t& w : e.move.waited) w = random() % 3 ? 0 : int32_t(random() % 100000);
  }
  return stream;
}

void expect_equal(const InstructionEvent& a, const InstructionEvent& b) {
  EXPECT_EQ(std::tie(a.unit, a.slot, a.launch, a.task, a.entry, a.name, a.label, a.issued,
                     a.started, a.retired, a.read_bytes, a.write_bytes, a.macs, a.descriptors),
            std::tie(b.unit, b.slot, b.launch, b.task, b.entry, b.name, b.label, b.issued,
                     b.started, b.retired, b.read_bytes, b.write_bytes, b.macs, b.descriptors));
  EXPECT_EQ(std::tie(a.parts.fixed, a.parts.streamed, a.parts.stalled, a.parts.tail),
            std::tie(b.parts.fixed, b.parts.streamed, b.parts.stalled, b.parts.tail));
  const MoveStages &m = a.move, &n = b.move;
  EXPECT_EQ(std::tie(m.named, m.began, m.allowed, m.asked, m.landed, m.decoding, m.issuing,
                     m.requests, m.walks, m.share, m.unloaded, m.waited),
            std::tie(n.named, n.began, n.allowed, n.asked, n.landed, n.decoding, n.issuing,
                     n.requests, n.walks, n.share, n.unloaded, n.waited));
}

TEST(EventFile, ReplaysWhatWasReported) {
  const TemporaryFolder folder;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const EventStream stream = rich_stream(seed);
    const std::string path = folder.file("run.events");
    EventFileWriter writer(path, {.facts = some_facts()});
    Keeper direct, again;
    stream.play(direct);
    stream.play(writer);
    Observer* const list[] = {&again};
    const ReplayedRun run = replay_events(path, list);
    EXPECT_EQ(run.cycles, stream.cycles);
    EXPECT_EQ(run.dropped, 0);
    EXPECT_EQ(run.facts.kernels, some_facts().kernels);
    EXPECT_EQ(run.facts.knobs, some_facts().knobs);
    EXPECT_EQ(run.facts.knob("chip.clock"), 1.65);
    const EventStream &a = direct.stream, &b = again.stream;
    ASSERT_EQ(a.instructions.size(), b.instructions.size());
    for (size_t i = 0; i < a.instructions.size(); ++i)
      expect_equal(a.instructions[i], b.instructions[i]);
    ASSERT_EQ(a.spans.size(), b.spans.size());
    for (size_t i = 0; i < a.spans.size(); ++i)
      EXPECT_EQ(std::tie(a.spans[i].unit, a.spans[i].begin, a.spans[i].end, a.spans[i].cause,
                         a.spans[i].launch, a.spans[i].waits_for),
                std::tie(b.spans[i].unit, b.spans[i].begin, b.spans[i].end, b.spans[i].cause,
                         b.spans[i].launch, b.spans[i].waits_for));
    ASSERT_EQ(a.flows.size(), b.flows.size());
    for (size_t i = 0; i < a.flows.size(); ++i)
      EXPECT_EQ(std::tie(a.flows[i].from_unit, a.flows[i].to_unit, a.flows[i].from_time,
                         a.flows[i].to_time),
                std::tie(b.flows[i].from_unit, b.flows[i].to_unit, b.flows[i].from_time,
                         b.flows[i].to_time));
    EXPECT_EQ(a.tasks.size(), b.tasks.size());
    ASSERT_EQ(a.launches.size(), b.launches.size());
    for (size_t i = 0; i < a.launches.size(); ++i)
      EXPECT_EQ(a.launches[i].kernel, b.launches[i].kernel);
    ASSERT_EQ(a.units.size(), b.units.size());
    for (size_t i = 0; i < a.units.size(); ++i) EXPECT_EQ(a.units[i].path, b.units[i].path);
  }
}

TEST(EventFile, KeepsJobsAndWhatLaunchesWaitedFor) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.events");
  EventFileWriter writer(path, {.facts = some_facts()});
  const std::vector<uint32_t> after{0, 7, 3};
  writer.job(
      {.dispatch = true, .launch = 5, .task = 2, .count = 4, .core = 9, .from = 100, .until = 165});
  writer.launch({.launch = 5,
                 .kernel = "k",
                 .ready = 1,
                 .started = 2,
                 .ended = 300,
                 .tasks = 1,
                 .after = after});
  writer.end(300);
  Keeper keeper;
  Observer* const list[] = {&keeper};
  replay_events(path, list);
  ASSERT_EQ(keeper.jobs.size(), 1u);
  const JobEvent& j = keeper.jobs[0];
  EXPECT_TRUE(j.dispatch);
  EXPECT_EQ(std::vector<int64_t>({j.launch, j.task, j.count, j.core, j.from, j.until}),
            std::vector<int64_t>({5, 2, 4, 9, 100, 165}));
  ASSERT_EQ(keeper.after.size(), 1u);
  EXPECT_EQ(keeper.after[0], after);
}

TEST(EventFile, RefusesWhatIsCutOrAltered) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.events"), bad = folder.file("bad.events");
  EventFileWriter writer(path, {.facts = some_facts()});
  rich_stream(3).play(writer);
  const std::string good = read_file(path);
  ASSERT_GT(good.size(), 1000u);
  for (size_t n = 0; n < good.size(); n += 1 + good.size() / 60) {
    write_file(bad, good.substr(0, n));
    EXPECT_THROW(replay_events(bad, {}), UserError) << "cut at " << n;
    std::string altered = good;
    altered[n] = char(altered[n] ^ 0x20);
    write_file(bad, altered);
    EXPECT_THROW(replay_events(bad, {}), UserError) << "altered at " << n;
  }
  EXPECT_THROW(replay_events(folder.file("absent"), {}), UserError);
}

TEST(EventFile, CapDropsInstructionsAndFlowsAndSaysHowMany) {
  const TemporaryFolder folder;
  const EventStream stream = rich_stream(5);
  const std::string path = folder.file("run.events");
  EventFileWriter writer(path, {.facts = some_facts(), .max_bytes = 20000});
  stream.play(writer);
  Keeper keeper;
  Observer* const list[] = {&keeper};
  const ReplayedRun run = replay_events(path, list);
  const auto all = int64_t(stream.instructions.size() + stream.flows.size());
  const auto kept = int64_t(keeper.stream.instructions.size() + keeper.stream.flows.size());
  EXPECT_GT(run.dropped, 0);
  EXPECT_GT(kept, 0);
  EXPECT_EQ(kept + run.dropped, all);
  EXPECT_EQ(keeper.stream.spans.size(), stream.spans.size());
  EXPECT_EQ(keeper.stream.tasks.size(), stream.tasks.size());
}

}  // namespace
}  // namespace daybreak::traces
