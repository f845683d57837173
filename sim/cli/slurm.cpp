#include "sim/cli/slurm.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "configs/reader/loader.hpp"
#include "sim/cli/process.hpp"
#include "sim/cli/sweep_pool.hpp"
#include "traces/event/atomic_file.hpp"

namespace daybreak::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJobName = "daybreak-sweep";
constexpr size_t kMostTasks = 1000;  // Slurm's MaxArraySize is 1001 unless a site says otherwise
constexpr int kMostFruitless = 3;    // arrays in a row; one may be lost with the controller's state
constexpr int kMostRestarts = 10;    // of one task: what ends it each time is no accident

std::string shell_word(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

class Arrays {
 public:
  Arrays(const std::string& sweep_file, const SlurmOptions& options, const SweepResults& results)
      : sweep_file_(sweep_file),
        options_(options),
        results_(results),
        folder_(results.folder() + "/slurm") {
    fs::create_directories(folder_);
  }

  void work(std::vector<const SweepRun*> missing) {
    const size_t all = missing.size();
    int fruitless = 0;
    std::string job = fs::exists(folder_ + "/array") ? configs::read_file(folder_ + "/array") : "";
    while (drop_finished(missing) > 0) {
      if (job.empty() || !queued(job)) job = submit(missing);
      const size_t before = missing.size();
      wait(job, missing, all);
      fruitless = missing.size() < before ? 0 : fruitless + 1;
      if (fruitless == kMostFruitless)
        throw CheckError(fmt::format("{} arrays in a row gave no result; {}/log-* may say why",
                                     kMostFruitless, folder_));
    }
    if (!job.empty()) capture({"scancel", job});  // tasks that were queued again and have no work
    fs::remove_all(folder_);
  }

 private:
  size_t drop_finished(std::vector<const SweepRun*>& missing) const {
    std::erase_if(missing, [&](const SweepRun* run) { return results_.has(*run); });
    return missing.size();
  }

  // Until the array is over or has nothing left to do.
  void wait(const std::string& job, std::vector<const SweepRun*>& missing, size_t all) {
    for (bool last = false; !last && !missing.empty();) {
      last = !queued(job);  // asked before the look at the results: nothing comes after it
      const size_t before = missing.size();
      if (drop_finished(missing) < before)
        std::cerr << fmt::format("{}/{} runs, array {}\n", all - missing.size(), all, job);
      if (!last) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
  }

  // True also when the controller does not answer: it may come back with the array.
  static bool queued(const std::string& job) {
    const auto list = capture({"squeue", "--noheader", "--name", kJobName, "--format", "%F"});
    if (list.code != 0) return true;
    std::istringstream lines(list.out);
    for (std::string line; lines >> line;)
      if (line == job) return true;
    return false;
  }

  size_t write_tasks(const std::vector<const SweepRun*>& missing) const {
    fs::remove_all(folder_ + "/tasks");
    fs::create_directories(folder_ + "/tasks");
    std::set<size_t> points;
    for (const SweepRun* run : missing) points.insert(run->point);
    size_t tasks = 0;
    auto at = points.begin();
    for (; at != points.end() && tasks < kMostTasks; ++tasks) {
      std::string lines;
      for (int i = 0; i < options_.points_per_task && at != points.end(); ++i, ++at)
        lines += std::to_string(*at) + "\n";
      traces::write_file(fmt::format("{}/tasks/{}", folder_, tasks), lines);
    }
    return tasks;
  }

  // A task that a signal ended asks to be queued again; one that ends by itself has said what it could.
  void write_script() const {
    traces::write_file(
        folder_ + "/script",
        fmt::format("#!/bin/sh\n"
                    "{} sweep {} --out {} --task --points {}/tasks/\"$SLURM_ARRAY_TASK_ID\"\n"
                    "status=$?\n"
                    "[ $status -le 128 ] || status={}\n"
                    "[ $status != {} ] || [ \"${{SLURM_RESTART_COUNT:-0}}\" -lt {} ] || status=1\n"
                    "exit $status\n",
                    shell_word(fs::read_symlink("/proc/self/exe").string()),
                    shell_word(sweep_file_), shell_word(results_.folder()), shell_word(folder_),
                    kTryAgain, kTryAgain, kMostRestarts));
  }

  std::string submit(const std::vector<const SweepRun*>& missing) const {
    write_script();
    const size_t tasks = write_tasks(missing);
    std::vector<std::string> words = {
        "sbatch",     "--parsable",       "--requeue",  "--open-mode=append",
        "--job-name", kJobName,           "--ntasks=1", fmt::format("--array=0-{}", tasks - 1),
        "--output",   folder_ + "/log-%a"};
    if (!options_.partition.empty()) words.insert(words.end(), {"--partition", options_.partition});
    words.push_back(folder_ + "/script");
    const auto said = capture(words);
    const std::string job = said.out.substr(0, said.out.find_first_of(";\n"));
    if (said.code != 0 || job.empty())
      throw UserError("--slurm: " + (said.code == 127
                                         ? std::string("there is no sbatch here")
                                         : said.error.substr(0, said.error.find('\n'))));
    traces::write_file(folder_ + "/array", job);
    return job;
  }

  const std::string sweep_file_;
  const SlurmOptions& options_;
  const SweepResults& results_;
  const std::string folder_;
};

}  // namespace

void run_on_slurm(const std::string& sweep_file, const std::vector<const SweepRun*>& todo,
                  const SlurmOptions& options, const SweepResults& results) {
  Arrays(sweep_file, options, results).work(todo);
}

}  // namespace daybreak::cli
