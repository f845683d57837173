#include "sim/cli/sweep_pool.hpp"

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <thread>

#include <fmt/format.h>

#include "configs/reader/loader.hpp"
#include "sim/chip/config_load.hpp"
#include "sim/cli/estimate.hpp"
#include "sim/cli/process.hpp"
#include "sim/cli/read_record.hpp"

namespace daybreak::cli {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string last_line(const std::string& file) {
  std::string text = fs::exists(file) ? configs::read_file(file) : "";
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

class Pool {
 public:
  Pool(const configs::Sweep& sweep, int jobs, const SweepResults& results)
      : sweep_(sweep), jobs_(size_t(jobs)), results_(results) {}
  ~Pool() {
    for (const auto& p : active_) {
      kill(p.id, SIGKILL);
      waitpid(p.id, nullptr, 0);
    }
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  bool work(const std::vector<const SweepRun*>& todo) {
    const auto start = Clock::now();
    size_t next = 0, done = 0;
    while (next < todo.size() || !active_.empty()) {
      while (next < todo.size() && active_.size() < jobs_) begin(*todo[next++]);
      const size_t before = active_.size();
      std::erase_if(active_, [&](const Process& p) { return ended(p); });
      if (stopped_) return false;
      if (active_.size() == before) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        continue;
      }
      done += before - active_.size();
      std::cerr << fmt::format("{}/{} runs, {} failed, {:.0f} s left\n", done, todo.size(), failed_,
                               seconds_since(start) / double(done) * double(todo.size() - done));
    }
    return true;
  }

 private:
  struct Process {
    const SweepRun* run;
    pid_t id;
    Clock::time_point start;
  };

  std::string folder(const SweepRun& run) const { return results_.running() + "/" + run.hash; }
  void begin(const SweepRun& run) {
    active_.push_back(
        {&run, start_again(words_of(run, folder(run)), folder(run) + ".error"), Clock::now()});
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
                    objectives(record, sim::load_chip(p.run->variant.chip, p.run->variant.knobs),
                               estimates_));
    } else if (code > 128) {
      signalled(*p.run, code - 128);
    } else {
      const std::string line = last_line(folder(*p.run) + ".error");
      fail(*p.run, code == 1 && line.empty() ? "a verdict failed"
                                             : fmt::format("status {}: {}", code, line));
    }
    return true;
  }

  // Who stops a sweep tells all its processes, in any order. A kill that nobody can refuse may be meant for
  // this run alone (memory ran out): when it is meant for all, this process does not outlive the second.
  void signalled(const SweepRun& run, int number) {
    if (number == SIGINT || number == SIGTERM || number == SIGHUP) {
      stopped_ = true;
      return;
    }
    if (number == SIGKILL) std::this_thread::sleep_for(std::chrono::seconds(1));
    fail(run, fmt::format("ended by signal {}", number));
  }
  void fail(const SweepRun& run, const std::string& message) {
    ++failed_;
    results_.failed(run, message);
  }

  const configs::Sweep& sweep_;
  const size_t jobs_;
  const SweepResults& results_;
  const EstimateTable estimates_ = read_estimates("7nm");
  std::vector<Process> active_;
  size_t failed_ = 0;
  bool stopped_ = false;
};

}  // namespace

bool run_all(const configs::Sweep& sweep, const std::vector<const SweepRun*>& todo, int jobs,
             const SweepResults& results) {
  return Pool(sweep, jobs, results).work(todo);
}

}  // namespace daybreak::cli
