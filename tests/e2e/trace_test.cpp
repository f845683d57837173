// The verbs that read traces, on kernels that are slow for a known reason.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/e2e/browser.hpp"
#include "tests/e2e/program.hpp"

namespace daybreak::tests {
namespace {

using Json = nlohmann::json;

// One kernel's run in a folder of its own.
std::string run_kernel(const Folder& folder, const std::string& name,
                       std::vector<std::string> words) {
  const std::string out = folder.path() + "/" + name;
  words.insert(words.begin(), "run");
  words.insert(words.end(), {"--values", "steering", "--out", out});
  const auto run = run_program(words);
  EXPECT_EQ(run.code, 0) << run.error;
  return out;
}

Json read(std::vector<std::string> words) {
  words.insert(words.begin(), "trace");
  words.push_back("--json");
  const auto run = run_program(words);
  EXPECT_EQ(run.code, 0) << run.error;
  return Json::parse(run.out, nullptr, false);
}

struct Slow {
  std::string cause;
  std::vector<std::string> good, slow;  // words of the same kernel
};

TEST(Trace, DiffNamesTheCauseOfASlowKernelFirst) {
  const std::vector<Slow> cases{
      {"ring slot",
       {"sparse_mla", "tokens=16", "pair=off", "format=bf16", "ring=3"},
       {"sparse_mla", "tokens=16", "pair=off", "format=bf16", "ring=1"}},
      {"software descriptors",
       {"sparse_mla", "pair=off"},
       {"sparse_mla", "pair=off", "--set", "chip.core.dma.gather_engine=false"}},
      {"TLB walk",
       {"index_table"},
       {"index_table", "--set", "chip.core.dma.tlb.fill_entries=1", "--set",
        "chip.core.dma.tlb.walkers=1"}},
      {"sort work", {"topk"}, {"topk", "--set", "chip.core.sort.records_per_cycle=0.1"}},
      {"NoC or L2 contention",
       {"sparse_mla", "pair=off"},
       {"sparse_mla", "pair=off", "--set", "chip.l2.slices=1"}}};
  for (const Slow& c : cases) {
    const Folder folder;
    const auto good = run_kernel(folder, "good", c.good), slow = run_kernel(folder, "slow", c.slow);
    const Json diff = read({"diff", good, slow});
    EXPECT_GT(diff.at("after"), diff.at("before")) << c.cause;
    EXPECT_EQ(diff.at("causes").at(0).at("step"), c.cause) << diff.at("causes").dump(1);
    int64_t change = 0;
    for (const auto& step : diff.at("causes")) change += int64_t(step.at("change"));
    EXPECT_EQ(change, int64_t(diff.at("after")) - int64_t(diff.at("before")));
    const Json path = read({"critical-path", slow});
    bool found = false;
    for (const auto& step : path.at("steps"))
      found = found || (step.at("name") == c.cause && step.at("gain") > 0);
    EXPECT_TRUE(found) << c.cause;
  }
}

TEST(Trace, PredictionsAreWithinTenPercentOfReRuns) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"sparse_mla", "tokens=16", "pair=off", "ring=1"}, "chip.core.dma.outstanding=128"},
      {{"sparse_mla", "tokens=16", "pair=off"}, "chip.core.vector.units=4"},
      {{"topk"}, "chip.core.sort.records_per_cycle=4"},
      {{"dsa_decode"}, "chip.scheduler.launch=1"},
      {{"dsa_decode"}, "chip.noc.latency=100"},
      {{"dsa_decode"}, "chip.core.dma.row_issue=8"}};
  for (const auto& [words, knob] : cases) {
    const Folder folder;
    auto changed = words;
    changed.insert(changed.end(), {"--set", knob});
    const auto base = run_kernel(folder, "base", words),
               again = run_kernel(folder, "again", changed);
    const Json one = read({"critical-path", base, "--what-if", knob, "--measured", again}).at(0);
    const double predicted = one.at("predicted"), measured = one.at("measured");
    EXPECT_NEAR(predicted / measured, 1, 0.1) << one;
    EXPECT_NE(one.at("cycles"), one.at("measured")) << "the knob changes nothing: " << one;
  }
}

TEST(Trace, ReadsTheMainJob) {
  const Folder folder;
  const std::string out = folder.path() + "/run";
  ASSERT_EQ(run_program({"day0", "--model", "deepseek-v3.2", "--context", "4096", "--experts",
                         "off", "--out", out})
                .code,
            0);
  for (const char* verb : {"summary", "stalls", "critical-path", "roofline"}) {
    const auto text = run_program({"trace", verb, out});
    EXPECT_EQ(text.code, 0) << text.error;
    EXPECT_GT(text.out.size(), 200u) << verb;
    EXPECT_FALSE(read({verb, out}).is_discarded()) << verb;
  }
  const Json stalls = read({"stalls", out});
  for (const auto& [unit, account] : stalls.items()) {
    int64_t sum = 0;
    for (const auto& [cause, cycles] : account.at("cycles").items()) sum += int64_t(cycles);
    EXPECT_EQ(sum, int64_t(account.at("total"))) << unit;
  }
  // The same run again changes nothing, and says so.
  const Json same = read({"diff", out, out});
  EXPECT_TRUE(same.at("causes").empty());
  ASSERT_EQ(run_program({"trace", "export", out}).code, 0);
  EXPECT_FALSE(Json::parse(read_text(out + "/trace.json"), nullptr, false).is_discarded());
  const std::string before = read_text(out + "/trace.pftrace");
  ASSERT_EQ(run_program({"trace", "export", out, "--format", "perfetto"}).code, 0);
  EXPECT_EQ(read_text(out + "/trace.pftrace"), before) << "replayed events give another trace";
}

TEST(Trace, RefusesWhatItCannotRead) {
  const Folder folder;
  const auto out = run_kernel(folder, "run", {"index_table", "context=2048"});
  const auto refused = [](const std::vector<std::string>& words, const std::string& said) {
    const auto run = run_program(words);
    EXPECT_EQ(run.code, 2) << run.out;
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(std::count(run.error.begin(), run.error.end(), '\n'), 1) << run.error;
    EXPECT_NE(run.error.find(said), std::string::npos) << run.error;
  };
  refused({"trace", "summary", folder.path()}, "record.json");
  refused({"trace", "diff", out}, "two folders");
  refused({"trace", "stalls", out, out}, "one folder");
  refused({"trace", "critical-path", out, "--what-if", "chip.core.dma.outstandin=3"},
          "outstanding");
  refused({"trace", "critical-path", out, "--what-if", "chip.core.dma.outstanding=many"}, "number");
  refused({"trace", "critical-path", out, "--what-if", "chip.core.dma.outstanding=0"}, "positive");
  refused({"trace", "critical-path", out, "--what-if", "chip.core.dma.outstanding=32"}, "run it");
  refused({"trace", "export", out, "--format", "chrom"}, "chrome");
  const std::string events = read_text(out + "/run.events");
  folder.file("run/run.events", events.substr(0, events.size() / 2));
  refused({"trace", "stalls", out}, "run.events");
}

// An HTML page in a browser without a window: what stands in it after its script has run.
TEST(Trace, ReportWorksInABrowserWithoutANetwork) {
  const Folder folder;
  const std::string out = folder.path() + "/run";
  ASSERT_EQ(run_program({"day0", "--model", "deepseek-v3.2", "--context", "4096", "--experts",
                         "off", "--out", out})
                .code,
            0);
  ASSERT_EQ(run_program({"trace", "report", out}).code, 0);
  const std::string page = read_text(out + "/report.html");
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org")) << "asks for something outside";
  EXPECT_EQ(page.find("https://"), std::string::npos);
  if (!has_browser()) GTEST_SKIP() << "chromium is not installed: the page was not opened";
  for (const int width : {390, 1440}) {
    const auto seen = render(out + "/report.html", width,
                             "[...doc.querySelectorAll('h2')].map(e => e.textContent).join()");
    for (const char* heading : {"Overview", "Critical path", "Waterfall", "Stalls", "Roofline",
                                "Kernels", "Verdicts", "Assumed"})
      EXPECT_NE(seen.answer.find(heading), std::string::npos) << heading;
    EXPECT_EQ(seen.console, "");
    EXPECT_LE(seen.width, width);
  }
}

TEST(Check, ComparesWithCommittedRecords) {
  const auto good = run_program({"check", "--golden", DAYBREAK_SOURCE "/traces/golden"});
  EXPECT_EQ(good.code, 0) << good.out << good.error;
  const Folder folder;
  std::filesystem::copy(DAYBREAK_SOURCE "/traces/golden", folder.path() + "/golden",
                        std::filesystem::copy_options::recursive);
  const std::string record = folder.path() + "/golden/day0-decode-4096/record.json";
  Json changed = Json::parse(read_text(record));
  changed["totals"]["cycles"] = int64_t(changed["totals"]["cycles"]) - 100;
  folder.file("golden/day0-decode-4096/record.json", changed.dump());
  const std::string junit = folder.path() + "/junit.xml";
  const auto bad = run_program({"check", "--golden", folder.path() + "/golden", "--junit", junit});
  EXPECT_EQ(bad.code, 1) << bad.out;
  EXPECT_NE(bad.out.find("FAIL"), std::string::npos);
  EXPECT_NE(bad.out.find("total: "), std::string::npos) << bad.out;
  EXPECT_NE(read_text(junit).find("failures=\"1\""), std::string::npos) << read_text(junit);
  folder.file(
      "golden/golden.yaml",
      "runs:\n  - {name: day0-decode-4096, words: [day0, --model, deepseek-v3.2, --context, "
      "4096], tolerance: 1}\n");
  EXPECT_EQ(run_program({"check", "--golden", folder.path() + "/golden"}).code, 0);
  folder.file("golden/golden.yaml", "runs:\n  - {nam: x}\n");
  EXPECT_EQ(run_program({"check", "--golden", folder.path() + "/golden"}).code, 2);
}

}  // namespace
}  // namespace daybreak::tests
