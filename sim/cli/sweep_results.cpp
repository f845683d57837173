#include "sim/cli/sweep_results.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "configs/reader/loader.hpp"
#include "sim/cli/estimate.hpp"
#include "traces/event/atomic_file.hpp"
#include "traces/report/page.hpp"

namespace daybreak::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// What traces/report/sweep_page.js draws; empty when there are more runs than a browser likes.
std::string report_of(const configs::Sweep& sweep, const Json& lines,
                      const std::vector<traces::Metric>& names, size_t failed) {
  constexpr size_t kMostRuns = 20'000;
  if (lines.size() > kMostRuns) return "";
  Json data{{"title", sweep.title},      {"about", sweep.about},  {"runs", lines.size()},
            {"failed", failed},          {"axes", Json::array()}, {"objectives", Json::array()},
            {"workloads", Json::array()}};
  for (const auto& axis : sweep.axes) data["axes"].push_back(axis.name);
  for (const auto& metric : names) data["objectives"].push_back(metric.name);
  for (const auto& workload : sweep.workloads) {
    Json points = Json::array();
    for (const Json& line : lines) {
      if (line["workload"] != workload.name || line["status"] != "done") continue;
      Json point{{"point", line["point"]},
                 {"hash", line["hash"]},
                 {"axes", Json::array()},
                 {"figures", Json::array()}};
      for (const auto& [name, value] : line["axes"].items()) point["axes"].push_back(value);
      for (const auto& [name, value] : line["objectives"].items())
        point["figures"].push_back(value);
      points.push_back(std::move(point));
    }
    data["workloads"].push_back({{"name", workload.name}, {"points", std::move(points)}});
  }
  return traces::page(traces::kSweepScript,
                      data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void write_point(const std::string& file, const Json& json) {
  traces::write_file(file, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace

SweepResults::SweepResults(std::string folder, std::string running, int lock)
    : folder_(std::move(folder)), running_(std::move(running)), lock_(lock) {}

SweepResults SweepResults::owned(const std::string& folder, bool resume) {
  std::error_code error;
  fs::create_directories(folder + "/points", error);
  if (!error) fs::create_directories(folder + "/records", error);
  const int lock = open((folder + "/lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  if (error || lock < 0) throw UserError("--out " + folder + ": the folder cannot be made");
  if (flock(lock, LOCK_EX | LOCK_NB) != 0)
    throw UserError("--out " + folder + ": another sweep is writing there");
  if (!resume && !fs::is_empty(folder + "/points"))
    throw UserError("--out " + folder + ": it holds results; --resume goes on with them");
  const std::string running = folder + "/running";
  fs::remove_all(running);  // what a killed sweep left
  fs::create_directories(running);
  return {folder, running, lock};
}

SweepResults SweepResults::shared(const std::string& folder) {
  std::string running = folder + "/slurm/running-XXXXXX";
  if (!fs::is_directory(folder + "/points") || !mkdtemp(running.data()))
    throw UserError("--out " + folder + ": it is not the folder of a sweep under way on Slurm");
  return {folder, running, -1};
}

SweepResults::~SweepResults() {
  std::error_code ignored;
  fs::remove_all(running_, ignored);
  if (lock_ >= 0) close(lock_);
}

bool SweepResults::has(const SweepRun& run) const { return fs::exists(point(run.hash)); }

void SweepResults::failed(const SweepRun& run, const std::string& message) const {
  if (!has(run))
    write_point(point(run.hash), {{"hash", run.hash}, {"status", "failed"}, {"message", message}});
}

void SweepResults::done(const SweepRun& run, const std::string& from,
                        const std::vector<traces::Metric>& figures) const {
  std::error_code error;
  fs::rename(from, folder_ + "/records/" + run.hash, error);
  if (error && !fs::exists(folder_ + "/records/" + run.hash))
    throw UserError("--out " + folder_ + ": a record cannot be kept: " + error.message());
  Json json{{"hash", run.hash}, {"status", "done"}, {"message", ""}};
  for (const auto& metric : figures) json["objectives"][metric.name] = metric.value;
  write_point(point(run.hash), json);
}

size_t SweepResults::write_tables(const configs::Sweep& sweep,
                                  const std::vector<SweepRun>& runs) const {
  std::string lines, rows = "point,workload,hash,status,message";
  for (const auto& axis : sweep.axes) rows += "," + csv_field(axis.name);
  const auto names = objectives({}, {}, read_estimates("7nm"));
  for (const auto& metric : names) rows += "," + metric.name;
  rows += "\n";
  Json all = Json::array();
  size_t failed = 0;
  for (const SweepRun& run : runs) {
    const auto file = configs::load_file(point(run.hash));
    const std::string status = file.require("status").text();
    const std::string message = file.require("message").text();
    failed += status != "done";
    Json line{{"point", run.point},
              {"workload", run.workload->name},
              {"hash", run.hash},
              {"status", status},
              {"message", message},
              {"axes", Json::object()},
              {"objectives", Json::object()}};
    rows += fmt::format("{},{},{},{},{}", run.point, csv_field(run.workload->name), run.hash,
                        status, csv_field(message));
    for (size_t i = 0; i < sweep.axes.size(); ++i) {
      line["axes"][sweep.axes[i].name] = run.settings[i].value;
      rows += "," + csv_field(run.settings[i].value);
    }
    for (const auto& metric : names) {
      rows += ",";
      if (status != "done") continue;
      const auto& value = file.require("objectives").require(metric.name);
      line["objectives"][metric.name] = value.number();
      rows += value.text();
    }
    all.push_back(line);
    lines += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    rows += "\n";
  }
  traces::write_file(folder_ + "/results.jsonl", lines);
  traces::write_file(folder_ + "/results.csv", rows);
  const std::string report = report_of(sweep, all, names, failed);
  fs::remove(folder_ + "/report.html");
  if (!report.empty()) traces::write_file(folder_ + "/report.html", report);
  return failed;
}

}  // namespace daybreak::cli
