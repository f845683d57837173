#include "sim/cli/check.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "configs/reader/loader.hpp"
#include "sim/cli/process.hpp"
#include "sim/cli/read_record.hpp"
#include "traces/event/atomic_file.hpp"

namespace daybreak::cli {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string name;
  std::vector<std::string> words;
  double tolerance = 0;
};

struct Outcome {
  std::string name;
  int64_t golden = 0, now = 0;        // cycles of all records of the run
  std::vector<std::string> findings;  // empty: as committed
};

std::vector<Entry> read_list(const std::string& path) {
  const auto file = configs::load_file(path);
  file.only({"runs"});
  std::vector<Entry> out;
  for (const auto& item : file.require("runs").items()) {
    item.only({"name", "words", "tolerance"});
    Entry e{.name = item.require("name").text(),
            .tolerance = item.number_or("tolerance", 0, 0, 100)};
    if (e.name.find('/') != std::string::npos || e.name.starts_with("."))
      item.require("name").fail("a run's name is the name of a folder");
    for (const auto& word : item.require("words").items()) e.words.push_back(word.text());
    if (e.words.empty()) item.require("words").fail("a run needs a verb");
    out.push_back(std::move(e));
  }
  return out;
}

std::vector<std::string> records_below(const std::string& folder) {
  std::vector<std::string> out;
  if (fs::is_directory(folder))
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().filename() == "record.json")
        out.push_back(fs::relative(entry.path(), folder).string());
  std::sort(out.begin(), out.end());
  return out;
}

Outcome check_one(const Entry& e, const std::string& folder) {
  Outcome out{.name = e.name};
  const std::string golden = folder + "/" + e.name;
  const auto records = records_below(golden);
  if (records.empty()) {
    out.findings.push_back("no record.json is committed for it");
    return out;
  }
  const Scratch scratch;
  auto words = e.words;
  words.insert(words.end(), {"--trace", "off", "--out", scratch.path()});
  if (const int status = run_again(std::move(words)); status > 1) {
    out.findings.push_back(fmt::format("the run ended with status {}", status));
    return out;
  }
  for (const auto& name : records) {
    const auto want = read_record(golden + "/" + name);
    out.golden += want.totals.cycles;
    const std::string file = scratch.path() + "/" + name;
    if (!fs::exists(file)) {
      out.findings.push_back(name + " was not written");
      continue;
    }
    const auto got = read_record(file);
    out.now += got.totals.cycles;
    for (auto& finding : differences(want, got, e.tolerance))
      out.findings.push_back(name + ": " + finding);
  }
  for (const auto& name : records_below(scratch.path()))
    if (std::find(records.begin(), records.end(), name) == records.end())
      out.findings.push_back(name + " is new: it is not committed");
  return out;
}

std::string xml(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += uint8_t(c) < 0x20 ? ' ' : c;
    }
  return out;
}

std::string junit(const std::vector<Outcome>& outcomes, size_t failed) {
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"daybreak check\" tests=\"{}\" failures=\"{}\">\n",
      outcomes.size(), failed);
  for (const Outcome& o : outcomes) {
    out += fmt::format("  <testcase classname=\"golden\" name=\"{}\"", xml(o.name));
    if (o.findings.empty()) {
      out += "/>\n";
      continue;
    }
    out += fmt::format(">\n    <failure message=\"{}\">", xml(o.findings[0]));
    for (const auto& f : o.findings) out += xml(f) + "\n";
    out += "</failure>\n  </testcase>\n";
  }
  return out + "</testsuite>\n";
}

std::string markdown(const std::vector<Outcome>& outcomes) {
  std::string out =
      "| run | golden cycles | cycles | change | verdict |\n|---|---:|---:|---:|---|\n";
  for (const Outcome& o : outcomes)
    out += fmt::format("| {} | {} | {} | {:+.2f} % | {} |\n", o.name, o.golden, o.now,
                       o.golden ? 100.0 * double(o.now - o.golden) / double(o.golden) : 0.0,
                       o.findings.empty() ? "pass" : "FAIL");
  for (const Outcome& o : outcomes)
    for (const auto& f : o.findings) out += fmt::format("\n* {}: {}", o.name, f);
  return out + (out.back() == '\n' ? "" : "\n");
}

}  // namespace

std::vector<std::string> differences(const traces::RunRecord& golden, const traces::RunRecord& now,
                                     double tolerance) {
  std::vector<std::string> out;
  const auto cycles = [&](const std::string& what, int64_t want, int64_t got) {
    if (std::abs(double(got - want)) > double(want) * tolerance / 100)
      out.push_back(fmt::format("{}: {} cycles, committed are {}", what, got, want));
  };
  cycles("total", golden.totals.cycles, now.totals.cycles);
  if (golden.kernels.size() != now.kernels.size())
    out.push_back(
        fmt::format("{} kernels, committed are {}", now.kernels.size(), golden.kernels.size()));
  for (size_t i = 0; i < std::min(golden.kernels.size(), now.kernels.size()); ++i) {
    const auto &want = golden.kernels[i], &got = now.kernels[i];
    if (want.kernel != got.kernel) {
      out.push_back(fmt::format("kernel {} is {}, committed is {}", i, got.kernel, want.kernel));
      continue;
    }
    cycles(want.kernel, want.cycles, got.cycles);
    if (want.read_bytes != got.read_bytes || want.write_bytes != got.write_bytes)
      out.push_back(fmt::format("{}: {} bytes read and {} written, committed are {} and {}",
                                want.kernel, got.read_bytes, got.write_bytes, want.read_bytes,
                                want.write_bytes));
  }
  if (golden.verdicts.size() != now.verdicts.size())
    out.push_back(
        fmt::format("{} verdicts, committed are {}", now.verdicts.size(), golden.verdicts.size()));
  for (size_t i = 0; i < std::min(golden.verdicts.size(), now.verdicts.size()); ++i) {
    const auto &want = golden.verdicts[i], &got = now.verdicts[i];
    const bool same = want.name == got.name && want.pass == got.pass &&
                      want.metrics.size() == got.metrics.size() &&
                      std::equal(want.metrics.begin(), want.metrics.end(), got.metrics.begin(),
                                 [](const auto& a, const auto& b) {
                                   return a.name == b.name && a.value == b.value;
                                 });
    if (!same)
      out.push_back(fmt::format("verdict '{}' {} with other figures than '{}' that is committed",
                                got.name, got.pass ? "passes" : "fails", want.name));
  }
  return out;
}

int check(const CheckOptions& o) {
  std::vector<Outcome> outcomes;
  for (const Entry& e : read_list(o.folder + "/golden.yaml"))
    outcomes.push_back(check_one(e, o.folder));
  const auto failed = size_t(std::count_if(outcomes.begin(), outcomes.end(),
                                           [](const Outcome& r) { return !r.findings.empty(); }));
  std::cout << markdown(outcomes);
  if (!o.junit.empty()) traces::write_file(o.junit, junit(outcomes, failed));
  return failed == 0 ? 0 : 1;
}

}  // namespace daybreak::cli
