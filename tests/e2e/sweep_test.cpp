// Sweeps from outside: results, failures, what a kill leaves.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "tests/e2e/browser.hpp"
#include "tests/e2e/program.hpp"

namespace daybreak::tests {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

std::string sweep_file(const Folder& folder, const std::string& axes,
                       const std::string& words = "run, topk, --values, steering",
                       const std::string& more = "") {
  return folder.file("s.yaml", "title: t\nchip: mx-dma\naxes:\n" + axes +
                                   "workloads:\n  - {name: w, words: [" + words + "]}\n" + more);
}

std::vector<Json> lines_of(const std::string& out) {
  std::vector<Json> lines;
  std::istringstream text(read_text(out + "/results.jsonl"));
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
  return lines;
}

TEST(Sweep, ARunGivesWhatTheSameRunGivesAloneAndOneChipIsSimulatedOnce) {
  const Folder folder;
  const auto file = sweep_file(folder,
                               "  - {name: rate, knob: core.sort.records_per_cycle, list: [0.5, "
                               "2, \"2.0\"]}\n");
  const auto out = folder.path() + "/out";
  const auto run = run_program({"sweep", file, "--jobs", "2", "--out", out});
  ASSERT_EQ(run.code, 0) << run.error;
  const auto lines = lines_of(out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_GT(lines[0]["objectives"]["us"], lines[1]["objectives"]["us"]);
  EXPECT_EQ(lines[1]["hash"], lines[2]["hash"]);
  EXPECT_NE(run.out.find("3 runs, 2 simulated now, 0 failed"), std::string::npos) << run.out;
  const auto alone =
      run_program({"run", "topk", "--values", "steering", "--set",
                   "core.sort.records_per_cycle=0.5", "--out", folder.path() + "/alone"});
  ASSERT_EQ(alone.code, 0) << alone.error;
  EXPECT_EQ(read_text(out + "/records/" + lines[0]["hash"].get<std::string>() + "/record.json"),
            read_text(folder.path() + "/alone/record.json"));
  const auto& o = lines[0]["objectives"];
  EXPECT_LT(o["energy_uj_low"], o["energy_uj_nominal"]);
  EXPECT_LT(o["area_mm2_nominal"], o["area_mm2_high"]);
}

TEST(Sweep, TheChipItselfMayBeAnAxis) {
  const Folder folder;
  const auto file =
      folder.file("s.yaml",
                  "title: t\naxes:\n  - {name: style, knob: chip, list: [davinci-like-3, mx-dma]}\n"
                  "  - {name: cores, knob: cores, list: [16]}\n"
                  "workloads:\n  - {name: w, words: [run, topk, --values, steering]}\n");
  const auto out = folder.path() + "/out";
  ASSERT_EQ(run_program({"sweep", file, "--jobs", "2", "--out", out}).code, 0);
  const auto lines = lines_of(out);
  ASSERT_EQ(lines.size(), 2u);
  const auto alone = run_program({"run", "topk", "--values", "steering", "--chip", "davinci-like-3",
                                  "--set", "cores=16", "--out", folder.path() + "/alone"});
  ASSERT_EQ(alone.code, 0) << alone.error;
  EXPECT_EQ(read_text(out + "/records/" + lines[0]["hash"].get<std::string>() + "/record.json"),
            read_text(folder.path() + "/alone/record.json"));
  EXPECT_NE(lines[0]["objectives"]["us"], lines[1]["objectives"]["us"]);
}

TEST(Sweep, FailingAndHangingRunsAreRecordedAndTheOthersGoOn) {
  const Folder folder;
  const auto out = folder.path() + "/out";
  const auto chips =
      sweep_file(folder, "  - {name: ways, knob: core.dma.tlb.ways, list: [4, 100000]}\n");
  EXPECT_EQ(run_program({"sweep", chips, "--out", out}).code, 1);
  auto lines = lines_of(out);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["status"], "done");
  EXPECT_EQ(lines[1]["status"], "failed");
  EXPECT_NE(lines[1]["message"].get<std::string>().find("ways"), std::string::npos);

  const auto long_run = sweep_file(folder, "  - {name: cores, knob: cores, list: [1]}\n",
                                   "run, sparse_mla, tokens=4096", "limit: 1\n");
  EXPECT_EQ(run_program({"sweep", long_run, "--out", folder.path() + "/long"}).code, 1);
  EXPECT_EQ(lines_of(folder.path() + "/long").at(0)["message"], "no result within 1 s");

  const auto typo = sweep_file(folder, "  - {name: w, knob: core.dma.tlb.way, list: [1]}\n");
  const auto refused = run_program({"sweep", typo, "--out", folder.path() + "/typo"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.error.find("chip.core.dma.tlb.ways"), std::string::npos) << refused.error;
}

TEST(Sweep, KilledAtRandomMomentsAndResumedItLeavesTheSameFiles) {
  const Folder folder;
  const auto file = sweep_file(
      folder, "  - {name: head, knob: core.sort.head, range: {from: 1, to: 24, step: 1}}\n");
  const auto whole = folder.path() + "/whole", torn = folder.path() + "/torn";
  ASSERT_EQ(run_program({"sweep", file, "--jobs", "2", "--out", whole}).code, 0);
  std::mt19937 random(1);
  for (int kill_number = 0; kill_number < 6; ++kill_number) {
    const pid_t child = fork();
    if (child == 0) {
      if (!freopen("/dev/null", "w", stderr) || !freopen("/dev/null", "w", stdout)) _exit(127);
      execl(DAYBREAK_PROGRAM, "daybreak", "sweep", file.c_str(), "--jobs", "2", "--resume", "--out",
            torn.c_str(), nullptr);
      _exit(127);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random() % 400));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  if (fs::exists(torn + "/points") && !fs::is_empty(torn + "/points")) {
    EXPECT_EQ(run_program({"sweep", file, "--out", torn}).code, 2) << "without --resume";
  }
  const auto last = run_program({"sweep", file, "--jobs", "2", "--resume", "--out", torn});
  ASSERT_EQ(last.code, 0) << last.error;
  EXPECT_EQ(files_of(torn), files_of(whole));
  const auto again = run_program({"sweep", file, "--resume", "--out", torn});
  EXPECT_NE(again.out.find("24 runs, 0 simulated now"), std::string::npos) << again.out;
}

TEST(Pareto, KeepsWhatNoOtherPointBeatsAndTheFirstOfEquals) {
  const Folder folder;
  std::mt19937 random(3);
  std::vector<std::array<int, 3>> rows;
  std::string lines;
  for (int i = 0; i < 300; ++i) {
    rows.push_back({int(random() % 12), int(random() % 12), int(random() % 12)});
    const auto& r = rows.back();
    lines += Json{{"point", i},
                  {"workload", "w"},
                  {"hash", "h" + std::to_string(i)},
                  {"status", i % 50 == 7 ? "failed" : "done"},
                  {"axes", {{"a", "1"}}},
                  {"objectives", {{"us", r[0]}, {"energy", r[1]}, {"area", r[2]}}}}
                 .dump() +
             "\n";
  }
  folder.file("results.jsonl", lines);
  std::set<std::array<int, 3>> wanted;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i % 50 == 7) continue;
    const bool beaten = std::ranges::any_of(rows, [&](const auto& r) {
      const auto j = size_t(&r - rows.data());
      return j % 50 != 7 && r != rows[i] && r[0] <= rows[i][0] && r[1] <= rows[i][1] &&
             r[2] <= rows[i][2];
    });
    if (!beaten) wanted.insert(rows[i]);
  }
  const auto run =
      run_program({"pareto", folder.path(), "--objectives", "us,energy,area", "--json"});
  ASSERT_EQ(run.code, 0) << run.error;
  std::vector<std::array<int, 3>> got;
  for (const auto& p : Json::parse(run.out)) {
    const auto& o = p["objectives"];
    got.push_back({o["us"], o["energy"], o["area"]});
    EXPECT_EQ(rows.at(p["point"]), got.back());
  }
  EXPECT_EQ(got, std::vector(wanted.begin(), wanted.end()));
  const auto typo = run_program({"pareto", folder.path(), "--objectives", "energi"});
  EXPECT_EQ(typo.code, 2);
  EXPECT_NE(typo.error.find("'energy'"), std::string::npos) << typo.error;
  EXPECT_EQ(run_program({"pareto", folder.path() + "/none"}).code, 2);
}

// One knob moves time alone, the other area alone: one point beats all.
TEST(Sweep, ReportShowsTheFrontAndFiltersInABrowser) {
  const Folder folder;
  const auto file = sweep_file(folder,
                               "  - {name: rate, knob: core.sort.records_per_cycle, list: [1, 4]}\n"
                               "  - {name: size, knob: l2.capacity, list: [8, 16, 32]}\n");
  const auto out = folder.path() + "/out";
  ASSERT_EQ(run_program({"sweep", file, "--jobs", "2", "--out", out}).code, 0);
  const std::string page = read_text(out + "/report.html");
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org")) << "asks for something outside";
  EXPECT_EQ(page.find("https://"), std::string::npos);
  if (!has_browser()) GTEST_SKIP() << "chromium is not installed: the page was not opened";
  const auto lines = lines_of(out);
  for (const int width : {390, 1440}) {
    const auto seen = render(
        out + "/report.html", width,
        "[doc.querySelectorAll('svg circle').length, doc.querySelectorAll('tbody tr').length,"
        " doc.querySelector('tbody a').getAttribute('href'),"
        " [...doc.querySelectorAll('h2')].map(e => e.textContent).join('|'),"
        " [...doc.querySelectorAll('.row')].length].join(' ')");
    // The smallest L2 with the fast unit beats all others.
    EXPECT_EQ(seen.answer, "6 1 records/" + lines[3]["hash"].get<std::string>() +
                               "/record.json Pareto front|Sensitivity|us|area_mm2_nominal|Every "
                               "point 4");
    EXPECT_EQ(seen.console, "");
    EXPECT_LE(seen.width, width);
  }
  const auto pressed =
      render(out + "/report.html", 1440,
             "(doc.querySelectorAll('.level')[4].dispatchEvent(new Event('click')),"
             " doc.querySelectorAll('svg circle').length)");
  EXPECT_EQ(pressed.answer, "2") << "points with the third size";
}

TEST(Sweep, TheDryRunCountsAndWritesNothing) {
  const Folder folder;
  const auto file = sweep_file(
      folder, "  - {name: head, knob: core.sort.head, range: {from: 1, to: 24, step: 1}}\n");
  const auto run = run_program({"sweep", file, "--dry-run", "--out", folder.path() + "/out"});
  EXPECT_EQ(run.code, 0) << run.error;
  EXPECT_NE(run.out.find("24 points, 24 runs, 24 to simulate, about "), std::string::npos);
  EXPECT_FALSE(fs::exists(folder.path() + "/out"));
}

}  // namespace
}  // namespace daybreak::tests
