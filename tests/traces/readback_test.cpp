// Random runs, written and read back.
#include <array>

#include "readback.hpp"
#include "traces/event/perfetto.hpp"

namespace daybreak::traces {
namespace {

TEST_F(Readback, CountsAndDurationsPerTrackEqualTheRunsOwn) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const EventStream stream = random_stream(seed * 31 + 2);
    PerfettoWriter writer(folder_.file("t"), {.clock_hz = 1.65e9, .chip = "test"});
    stream.play(writer);
    EXPECT_GT(writer.flows_written(), 0);
    EXPECT_EQ(writer.flows_written() + writer.flows_dropped(), int64_t(stream.flows.size()));
    expect_readback(folder_.file("t"), stream, "test", writer.flows_written(), 1'650'000'000);
  }
}

TEST_F(Readback, TrafficCounterHoldsEveryByte) {
  const EventStream stream = random_stream(77);
  PerfettoWriter writer(folder_.file("t"), {.clock_hz = 2e9, .chip = "test"});
  stream.play(writer);
  const std::vector<Rows> answers = query(
      folder_.file("t"),
      {"select c.ts, c.value from counter c join process_counter_track t on c.track_id = t.id where "
       "t.name = 'memory traffic asked for' order by c.ts",
       "select unit from process_counter_track where name = 'memory traffic asked for'"});
  double bytes = 0, want = 0;
  for (size_t i = 0; i + 1 < answers[0].size(); ++i) {
    const double cycles = std::stod(answers[0][i + 1][0]) - std::stod(answers[0][i][0]);
    bytes += std::stod(answers[0][i][1]) * 1e9 * cycles / 2e9;
  }
  for (const InstructionEvent& e : stream.instructions)
    want += double(e.read_bytes + e.write_bytes);
  ASSERT_GT(want, 0);
  EXPECT_NEAR(bytes / want, 1, 1e-9);
  EXPECT_EQ(answers[1], (Rows{{"GB/s"}}));
}

TEST_F(Readback, CountersOfQueuesAndTransfersHoldEveryCycle) {
  const EventStream stream = random_stream(78);
  PerfettoWriter writer(folder_.file("t"), {.clock_hz = 2e9, .chip = "test"});
  stream.play(writer);
  const auto query_of = [](const std::string& name) {
    return "select c.ts, c.value from counter c join process_counter_track t on c.track_id = t.id "
           "where t.name = '" +
           name + "' order by c.ts";
  };
  const std::vector<Rows> answers = query(
      folder_.file("t"), {query_of("instructions queued"), query_of("transfers outstanding")});
  std::array<double, 2> got{}, want{};
  for (size_t k = 0; k < 2; ++k)
    for (size_t i = 0; i + 1 < answers[k].size(); ++i)
      got[k] += std::stod(answers[k][i][1]) *
                (std::stod(answers[k][i + 1][0]) - std::stod(answers[k][i][0]));
  for (const InstructionEvent& e : stream.instructions) {
    want[0] += double(e.started - e.issued);
    if (e.read_bytes + e.write_bytes > 0) want[1] += double(e.retired - e.started);
  }
  for (size_t k = 0; k < 2; ++k) {
    ASSERT_GT(want[k], 0);
    EXPECT_NEAR(got[k] / want[k], 1, 1e-9);
  }
}

TEST_F(Readback, NamesOfKernelsCausesAndInstructionsArrive) {
  PerfettoWriter writer(folder_.file("t"),
                        {.clock_hz = 1e9, .chip = "test", .kernels = {"sparse_mla"}});
  writer.unit({.id = 0, .core = 3, .path = "chip.core3.dma_in", .kind = "chip.core.dma_in"});
  writer.instruction({.unit = 0,
                      .task = 9,
                      .name = "gather",
                      .label = "gather step 3",
                      .started = 2,
                      .retired = 30,
                      .read_bytes = 656});
  writer.span({.unit = 0, .begin = 0, .end = 40, .cause = Cause::hbm_bandwidth, .launch = 0});
  writer.task({.core = 3, .launch = 0, .task = 9, .dispatched = 1, .started = 2, .ended = 31});
  writer.launch(
      {.launch = 0, .kernel = "sparse_mla", .ready = 0, .started = 1, .ended = 35, .tasks = 1});
  writer.end(40);
  const std::vector<Rows> answers = query(
      folder_.file("t"),
      {"select p.name, p.pid, t.name, s.name, s.category, s.ts, s.dur from slice s join process_track t "
       "on s.track_id = t.id join process p using (upid) order by 2, 3",
       "select string_value from args where key = 'debug.label'",
       "select int_value from args where key = 'debug.read_bytes'"});
  EXPECT_EQ(answers[0], (Rows{{"chip test", "1", "launches", "sparse_mla", "launch", "0", "35"},
                              {"chip test", "1", "run", "test", "run", "0", "40"},
                              {"core 3", "5", "dma_in", "gather", "instruction", "2", "28"},
                              {"core 3", "5", "dma_in state", "HBM bandwidth", "state", "0", "40"},
                              {"core 3", "5", "tasks", "sparse_mla", "task", "2", "29"}}));
  EXPECT_EQ(answers[1], (Rows{{"gather step 3"}}));
  EXPECT_EQ(answers[2], (Rows{{"656"}}));
}

}  // namespace
}  // namespace daybreak::traces
