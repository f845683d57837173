// Records, tables and waterfalls.
#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "event_stream.hpp"
#include "temporary_folder.hpp"
#include "traces/report/record.hpp"
#include "traces/report/table.hpp"

namespace daybreak::traces {
namespace {

constexpr Peaks kPeaks{.clock_hz = 1e9, .hbm_bytes_per_second = 1e12, .flops = 1e14};

RunRecord sample(uint64_t seed) {
  const EventStream stream = random_stream(seed);
  StallAccount account;
  stream.play(account);
  RunRecord record{.version = "0.1.0",
                   .verb = "day0",
                   .model = {{"hidden_size", "7168"}},
                   .workload = {{"context", "32768"}},
                   .chip = "mx-dma",
                   .chip_hash = content_hash("knobs"),
                   .clock_hz = kPeaks.clock_hz,
                   .values = "full",
                   .seeds = {{"inputs", 1}}};
  for (const LaunchAccount& launch : account.launches())
    record.kernels.push_back(kernel_row(
        launch, {.hbm_read_bytes = 100'000, .useful_bytes = 50'000, .useful_flop = 1e6}, kPeaks));
  record.totals = totals(record.kernels, 0, stream.cycles, kPeaks);
  record.verdicts = {{"indexer scores", true, {{"difference", 1.23456e-7}}, "1e-5", ""}};
  record.assumed = {{"page size", "64", "operators.md section 4"}};
  return record;
}

TEST(Record, HoldsWhatWasPutInAndParses) {
  const RunRecord record = sample(11);
  ASSERT_FALSE(record.kernels.empty());
  const auto json = nlohmann::json::parse(to_json(record));
  EXPECT_EQ(json["model"]["hidden_size"], "7168");
  EXPECT_EQ(json["chip"]["name"], "mx-dma");
  EXPECT_EQ(json["pass"], true);
  EXPECT_EQ(json["kernels"].size(), record.kernels.size());
  EXPECT_EQ(json["verdicts"][0]["metrics"]["difference"], 1.23e-7);
  for (size_t i = 0; i < record.kernels.size(); ++i) {
    const auto& row = json["kernels"][i];
    EXPECT_EQ(row["cycles"], record.kernels[i].cycles);
    for (const UnitStalls& s : record.kernels[i].stalls) {
      int64_t sum = 0;
      for (const auto& [cause, cycles] : row["stalls"][s.unit]["cycles"].items())
        sum += cycles.get<int64_t>();
      EXPECT_EQ(sum, total(s.cycles)) << s.unit;
    }
  }
}

TEST(Record, SameRecordSameBytesInAnyLocale) {
  const std::string want = to_json(sample(11));
  // Any of these that is installed writes decimal commas.
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "C.UTF-8"})
    if (std::setlocale(LC_ALL, name)) { EXPECT_EQ(to_json(sample(11)), want) << name; }
  std::setlocale(LC_ALL, "C");
}

TEST(Record, KeysComeInTheOrderOfTheMembers) {
  const std::string text = to_json(sample(11));
  size_t last = 0;
  for (const char* key :
       {"\"daybreak\"", "\"verb\"", "\"model\"", "\"workload\"", "\"chip\"", "\"values\"",
        "\"seeds\"", "\"kernels\"", "\"totals\"", "\"verdicts\"", "\"pass\"", "\"assumed\""}) {
    const size_t at = text.find(std::string("\n  ") + key);
    ASSERT_NE(at, std::string::npos) << key;
    EXPECT_GT(at, last) << key;
    last = at;
  }
}

TEST(Record, IsWrittenAsOneFile) {
  TemporaryFolder folder;
  write_record(sample(11), folder.path());
  EXPECT_EQ(read_file(folder.file("record.json")), to_json(sample(11)));
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(Record, NumbersThatJsonLacksBecomeWords) {
  RunRecord record;
  record.verdicts = {
      {"x", false, {{"a", std::nan("")}, {"b", std::numeric_limits<double>::infinity()}}, "", ""}};
  const auto json = nlohmann::json::parse(to_json(record));
  EXPECT_EQ(json["verdicts"][0]["metrics"]["a"], "nan");
  EXPECT_EQ(json["verdicts"][0]["metrics"]["b"], "inf");
  EXPECT_EQ(json["pass"], false);
}

TEST(Record, ThreeDigits) {
  EXPECT_EQ(three_digits(0.00123456), 0.00123);
  EXPECT_EQ(three_digits(-98765.0), -98800.0);
  EXPECT_EQ(three_digits(0), 0);
  EXPECT_TRUE(std::isnan(three_digits(std::nan(""))));
}

TEST(Record, HashIsFnv1a) {
  EXPECT_EQ(content_hash(""), "cbf29ce484222325");
  EXPECT_EQ(content_hash("foobar"), "85944171f73967e8");  // published test vector
}

TEST(Floors, FollowFromWorkAndPeak) {
  EXPECT_DOUBLE_EQ(floor_cycles(1e6, 1e12, 1e9), 1000);
  EXPECT_DOUBLE_EQ(floor_cycles(0, 0, 1e9), 0);
  LaunchAccount launch;
  launch.ended = 4000;
  const KernelRow row = kernel_row(
      launch, {.useful_bytes = 1'000'000, .useful_flop = 1e8, .matrix_flops = 5e13}, kPeaks);
  EXPECT_DOUBLE_EQ(row.hbm_floor_share, 0.25);
  EXPECT_DOUBLE_EQ(row.matrix_floor_share, 0.5);
  EXPECT_DOUBLE_EQ(row.useful_share, 0.25);
  EXPECT_DOUBLE_EQ(row.microseconds, 4);
}

TEST(Waterfall, StepsAddUpOnRandomRuns) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const EventStream stream = random_stream(seed);
    StallAccount account;
    stream.play(account);
    for (const LaunchAccount& launch : account.launches())
      for (const double floor : {0.0, 10.0, 1e9}) {
        const Waterfall w = waterfall(launch, floor);
        EXPECT_EQ(w.floor + w.layout + w.issue + w.sync + w.dispatch, w.actual);
        EXPECT_EQ(w.actual, launch.cycles());
        for (const int64_t step : {w.floor, w.layout, w.issue, w.sync, w.dispatch})
          EXPECT_GE(step, 0);
      }
  }
}

TEST(Waterfall, EachCauseFallsIntoItsStep) {
  StallAccount account;
  account.unit({.id = 0, .core = 0, .path = "chip.core0.dma_in", .kind = "chip.core.dma_in"});
  account.unit({.id = 1, .core = 1, .path = "chip.core1.dma_in", .kind = "chip.core.dma_in"});
  const std::pair<Cause, int64_t> parts[] = {{Cause::launch, 100},     {Cause::busy, 400},
                                             {Cause::hbm_row, 200},    {Cause::fifo_full, 50},
                                             {Cause::issue_order, 50}, {Cause::semaphore, 120},
                                             {Cause::ring_slot, 80}};
  int64_t at = 0;
  for (const auto& [cause, cycles] : parts) {
    account.span({.unit = 0, .begin = at, .end = at + cycles, .cause = cause, .launch = 0});
    at += cycles;
  }
  account.span({.unit = 1, .begin = 0, .end = 1000, .cause = Cause::no_task, .launch = 0});
  account.task({.core = 0, .launch = 0});
  account.launch(
      {.launch = 0, .kernel = "k", .ready = 0, .started = 100, .ended = 1000, .tasks = 1});
  account.end(1000);
  // Half of the chip was idle: the shares are over both cores.
  const Waterfall w = waterfall(account.launch_account(0), 250);
  EXPECT_EQ(w.unit, "dma_in");
  EXPECT_EQ(w.floor, 250);
  EXPECT_EQ(w.layout, 50);
  EXPECT_EQ(w.issue, 50);
  EXPECT_EQ(w.sync, 100);
  EXPECT_EQ(w.dispatch, 550);
  EXPECT_EQ(w.actual, 1000);
}

TEST(Table, LinesAreAlignedAsciiAndCarryTheNumbers) {
  RunRecord record = sample(11);
  record.kernels[0].kernel = "sparse_mla";
  record.kernels[0].cycles = 123456;
  record.kernels[0].busy = {{"dma_in", 0.25}, {"dma_out", 0.5}, {"matrix", 0.875}};
  const std::string text = kernel_table(record);
  EXPECT_NE(text.find("sparse_mla"), std::string::npos);
  EXPECT_NE(text.find(" 123456 "), std::string::npos);
  EXPECT_NE(text.find(" 50.0    87.5       -     -"), std::string::npos) << text;
  for (const char c : report_text(record)) EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~'));
  std::istringstream lines(text);
  std::string heading, rule, line;
  std::getline(lines, heading);
  std::getline(lines, rule);
  const size_t column = heading.find("tasks") + 5;  // numbers end where their heading ends
  for (size_t i = 0; i < record.kernels.size(); ++i) {
    std::getline(lines, line);
    EXPECT_NE(line[column - 1], ' ') << line;
    EXPECT_EQ(line[column], ' ') << line;
  }
}

TEST(Table, MemorySharesFollowFromTheCounts) {
  RunRecord record;
  KernelRow row{.kernel = "k",
                .memory = {.row_hits = 60,
                           .row_misses = 40,
                           .row_conflicts = 10,
                           .l2_hits = 3,
                           .l2_misses = 1,
                           .scale_hits = 1,
                           .scale_misses = 7}};
  UnitStalls loads{.unit = "dma_in", .units = 1};
  loads.cycles[size_t(Cause::busy)] = 195;
  loads.cycles[size_t(Cause::refresh)] = 5;
  row.stalls = {loads};
  record.kernels = {row};
  std::istringstream text(memory_table(record));
  std::string line;
  for (int i = 0; i < 3; ++i) std::getline(text, line);
  std::istringstream words(line);
  std::vector<std::string> got;
  for (std::string word; words >> word;) got.push_back(word);
  EXPECT_EQ(got,
            (std::vector<std::string>{"k", "60.0", "30.0", "10.0", "2.5", "75.0", "-", "12.5"}));
}

TEST(Table, FailuresShowTheWorstElement) {
  RunRecord record;
  record.verdicts = {{"a", true, {{"difference", 1e-9}}, "1e-5", "element 3"},
                     {"b", false, {{"difference", 0.5}}, "1e-5", "element 7: got 2, want 1"}};
  EXPECT_EQ(verdict_lines(record),
            "pass  a: difference 1e-09 (1e-5)\n"
            "FAIL  b: difference 0.5 (1e-5); worst: element 7: got 2, want 1\n");
}

}  // namespace
}  // namespace daybreak::traces
