#include "sim/cli/sweep.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "configs/reader/loader.hpp"
#include "configs/reader/sweep.hpp"
#include "configs/reader/words.hpp"
#include "sim/chip/config_load.hpp"
#include "sim/chip/schema.hpp"
#include "sim/cli/estimate.hpp"
#include "sim/cli/process.hpp"
#include "sim/cli/read_record.hpp"
#include "traces/event/atomic_file.hpp"

namespace daybreak::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

// One variant with one workload.
struct Run {
  size_t point = 0;
  const configs::SweepWorkload* workload = nullptr;
  std::vector<configs::Setting> settings;
  std::string hash, refused;  // refused: why there is no such chip
};

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<std::string> words_of(const Run& run, const std::string& chip, const std::string& out) {
  std::vector<std::string> words = run.workload->words;
  words.insert(words.end(), {"--chip", chip, "--trace", "off", "--out", out});
  for (const auto& s : run.settings) words.insert(words.end(), {"--set", s.path + "=" + s.value});
  return words;
}

void check_knobs(const configs::Sweep& sweep) {
  auto chip = sim::load_chip(sweep.chip);
  std::vector<std::string> known;
  for (const auto& knob : sim::list_knobs(chip)) known.push_back(knob.path);
  for (const auto& axis : sweep.axes)
    if (std::ranges::find(known, axis.knob) == known.end())
      throw UserError(axis.at, "there is no knob " + configs::in_quotes(axis.knob) +
                                   configs::did_you_mean(axis.knob, known));
}

std::vector<Run> runs_of(const configs::Sweep& sweep) {
  std::vector<Run> out;
  const auto points = sweep.points();
  for (size_t point = 0; point < points.size(); ++point) {
    std::string chip, refused;
    try {
      chip = sim::dump_yaml(sim::load_chip(sweep.chip, points[point]));
    } catch (const UserError& error) {
      refused = error.what();
      for (const auto& s : points[point]) chip += s.path + "=" + s.value + "\n";
    }
    for (const auto& workload : sweep.workloads) {
      // Text with lengths, so that no two lists of words give the same.
      std::string text = fmt::format("{}\n{}\n{}\n", DAYBREAK_VERSION, chip.size(), chip);
      for (const auto& word : workload.words) text += fmt::format("{}:{}\n", word.size(), word);
      out.push_back({point, &workload, points[point], traces::content_hash(text), refused});
    }
  }
  return out;
}

// The folder of a sweep; one sweep at a time writes into it.
class Results {
 public:
  Results(const std::string& folder, bool resume) : folder_(folder) {
    std::error_code error;
    fs::create_directories(folder + "/points", error);
    if (!error) fs::create_directories(folder + "/records", error);
    lock_ = open((folder + "/lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
    if (error || lock_ < 0) throw UserError("--out " + folder + ": the folder cannot be made");
    if (flock(lock_, LOCK_EX | LOCK_NB) != 0)
      throw UserError("--out " + folder + ": another sweep is writing there");
    if (!resume && !fs::is_empty(folder + "/points"))
      throw UserError("--out " + folder + ": it holds results; --resume goes on with them");
    fs::remove_all(running());  // what a killed sweep left
    fs::create_directories(running());
  }
  ~Results() { close(lock_); }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  std::string running() const { return folder_ + "/running"; }
  std::string point(const std::string& hash) const { return folder_ + "/points/" + hash + ".json"; }
  bool has(const Run& run) const { return fs::exists(point(run.hash)); }
  void failed(const Run& run, const std::string& message) const {
    write(run, {{"hash", run.hash}, {"status", "failed"}, {"message", message}});
  }
  // Keeps the record, then says that the run is finished.
  void done(const Run& run, const std::string& from, const std::vector<traces::Metric>& o) const {
    const std::string to = folder_ + "/records/" + run.hash;
    fs::remove_all(to);
    fs::rename(from, to);
    Json json{{"hash", run.hash}, {"status", "done"}, {"message", ""}};
    for (const auto& metric : o) json["objectives"][metric.name] = metric.value;
    write(run, json);
  }

 private:
  void write(const Run& run, const Json& json) const {
    traces::write_file(point(run.hash),
                       json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  std::string folder_;
  int lock_ = -1;
};

std::string last_line(const std::string& file) {
  std::string text = fs::exists(file) ? configs::read_file(file) : "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// Up to `jobs` processes; each ends as a result file.
class Pool {
 public:
  Pool(const configs::Sweep& sweep, const SweepOptions& options, const Results& results)
      : sweep_(sweep), options_(options), results_(results) {}

  void work(const std::vector<const Run*>& todo) {
    const auto start = Clock::now();
    size_t next = 0, done = 0;
    while (next < todo.size() || !active_.empty()) {
      while (next < todo.size() && active_.size() < size_t(options_.jobs)) begin(*todo[next++]);
      const size_t before = active_.size();
      std::erase_if(active_, [&](Process& p) { return ended(p); });
      if (active_.size() == before) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        continue;
      }
      done += before - active_.size();
      std::cerr << fmt::format("{}/{} runs, {} failed, {:.0f} s left\n", done, todo.size(), failed_,
                               seconds_since(start) / double(done) * double(todo.size() - done));
    }
  }

 private:
  struct Process {
    const Run* run;
    pid_t id;
    Clock::time_point start;
  };

  std::string folder(const Run& run) const { return results_.running() + "/" + run.hash; }
  void begin(const Run& run) {
    active_.push_back({&run,
                       start_again(words_of(run, sweep_.chip, folder(run)), folder(run) + ".error"),
                       Clock::now()});
  }

  bool ended(const Process& p) {
    int status = 0;
    if (waitpid(p.id, &status, WNOHANG) == 0) {
      if (seconds_since(p.start) < double(sweep_.limit_seconds)) return false;
      kill(p.id, SIGKILL);
      waitpid(p.id, &status, 0);
      fail(*p.run, fmt::format("no result within {} s", sweep_.limit_seconds));
      return true;
    }
    const int code = exit_status(status);
    if (code == 0) {
      const auto record = read_record(record_file(folder(*p.run)));
      results_.done(*p.run, folder(*p.run),
                    objectives(record, sim::load_chip(sweep_.chip, p.run->settings), estimates_));
    } else if (code > 128) {
      fail(*p.run, fmt::format("ended by signal {}", code - 128));
    } else {
      const std::string line = last_line(folder(*p.run) + ".error");
      fail(*p.run, code == 1 && line.empty() ? "a verdict failed"
                                             : fmt::format("status {}: {}", code, line));
    }
    return true;
  }
  void fail(const Run& run, const std::string& message) {
    ++failed_;
    results_.failed(run, message);
  }

  const configs::Sweep& sweep_;
  const SweepOptions& options_;
  const Results& results_;
  EstimateTable estimates_ = read_estimates("7nm");
  std::vector<Process> active_;
  size_t failed_ = 0;
};

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// All runs in the order of the sweep, as JSON lines and as a table; gives the number of failed ones.
size_t write_results(const configs::Sweep& sweep, const std::vector<Run>& runs,
                     const Results& results, const std::string& folder) {
  std::string lines, rows = "point,workload,hash,status,message";
  for (const auto& axis : sweep.axes) rows += "," + csv_field(axis.name);
  const auto names = objectives({}, sim::load_chip(sweep.chip), read_estimates("7nm"));
  for (const auto& metric : names) rows += "," + metric.name;
  rows += "\n";
  size_t failed = 0;
  for (const Run& run : runs) {
    const auto file = configs::load_file(results.point(run.hash));
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
    lines += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    rows += "\n";
  }
  traces::write_file(folder + "/results.jsonl", lines);
  traces::write_file(folder + "/results.csv", rows);
  return failed;
}

// The first run of each workload, timed, stands for the others.
int dry_run(const configs::Sweep& sweep, const SweepOptions& options, const std::vector<Run>& runs,
            const std::vector<const Run*>& distinct) {
  double seconds = 0;
  for (const auto& workload : sweep.workloads) {
    const auto of = [&](const Run* r) { return r->workload == &workload; };
    const auto first = std::ranges::find_if(distinct, of);
    if (first == distinct.end()) continue;
    const Scratch scratch;
    const auto start = Clock::now();
    run_again(words_of(**first, sweep.chip, scratch.path()), scratch.path() + "/error");
    seconds += seconds_since(start) * double(std::ranges::count_if(distinct, of));
  }
  std::cout << fmt::format("{} points, {} runs, {} to simulate, about {:.0f} s with {} jobs\n",
                           runs.size() / sweep.workloads.size(), runs.size(), distinct.size(),
                           seconds / options.jobs, options.jobs);
  return 0;
}

}  // namespace

int sweep(const SweepOptions& options) {
  const auto sweep = configs::read_sweep(options.file);
  check_knobs(sweep);
  const auto runs = runs_of(sweep);
  if (runs.empty()) throw UserError(options.file + ": the constraints allow no point");
  std::vector<const Run*> distinct;
  std::set<std::string> seen;
  for (const Run& run : runs)
    if (seen.insert(run.hash).second) distinct.push_back(&run);
  if (options.dry_run) {
    std::erase_if(distinct, [](const Run* r) { return !r->refused.empty(); });
    return dry_run(sweep, options, runs, distinct);
  }
  if (options.out.empty()) throw UserError("sweep: --out FOLDER is needed for the results");
  const Results results(options.out, options.resume);
  std::erase_if(distinct, [&](const Run* r) { return results.has(*r); });
  std::erase_if(distinct, [&](const Run* r) {
    if (!r->refused.empty()) results.failed(*r, r->refused);
    return !r->refused.empty();
  });
  Pool(sweep, options, results).work(distinct);
  fs::remove_all(results.running());
  const size_t failed = write_results(sweep, runs, results, options.out);
  std::cout << fmt::format("{}\n{} runs, {} simulated now, {} failed\n", sweep.title, runs.size(),
                           distinct.size(), failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace daybreak::cli
