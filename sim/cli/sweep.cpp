#include "sim/cli/sweep.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/cli/process.hpp"
#include "sim/cli/sweep_pool.hpp"
#include "sim/cli/sweep_results.hpp"
#include "sim/cli/sweep_runs.hpp"

namespace daybreak::cli {
namespace {

using Clock = std::chrono::steady_clock;

// The first run of each workload, timed, stands for the others.
int dry_run(const configs::Sweep& sweep, const SweepOptions& options,
            const std::vector<SweepRun>& runs, const std::vector<const SweepRun*>& distinct) {
  double seconds = 0;
  for (const auto& workload : sweep.workloads) {
    const auto of = [&](const SweepRun* r) { return r->workload == &workload; };
    const auto first = std::ranges::find_if(distinct, of);
    if (first == distinct.end()) continue;
    const Scratch scratch;
    const auto start = Clock::now();
    run_again(words_of(**first, scratch.path()), scratch.path() + "/error");
    seconds += std::chrono::duration<double>(Clock::now() - start).count() *
               double(std::ranges::count_if(distinct, of));
  }
  std::cout << fmt::format("{} points, {} runs, {} to simulate, about {:.0f} s with {} jobs\n",
                           runs.size() / sweep.workloads.size(), runs.size(), distinct.size(),
                           seconds / options.jobs, options.jobs);
  return 0;
}

// The grid for programs that search it: of each point the level it has on every axis that has values.
void print_space(const configs::Sweep& sweep,
                 const std::vector<std::vector<configs::Setting>>& points) {
  nlohmann::ordered_json json{{"title", sweep.title}, {"axes", {}}, {"points", {}}};
  for (const auto& axis : sweep.axes)
    if (!axis.follows)
      json["axes"].push_back({{"name", axis.name}, {"knob", axis.knob}, {"values", axis.values}});
  for (const auto& settings : points) {
    auto levels = nlohmann::ordered_json::array();
    for (size_t i = 0; i < sweep.axes.size(); ++i) {
      const auto& axis = sweep.axes[i];
      if (axis.follows) continue;
      levels.push_back(std::ranges::find(axis.values, settings[i].value) - axis.values.begin());
    }
    json["points"].push_back(std::move(levels));
  }
  std::cout << json.dump() << "\n";
}

// Runs without a result, each once; those whose chip is refused get theirs here.
std::vector<const SweepRun*> to_do(const std::vector<SweepRun>& runs, const SweepResults& results) {
  std::vector<const SweepRun*> out;
  std::set<std::string> seen;
  for (const SweepRun& run : runs) {
    if (results.has(run) || !seen.insert(run.hash).second) continue;
    if (run.refused.empty())
      out.push_back(&run);
    else
      results.failed(run, run.refused);
  }
  return out;
}

int interrupted(const std::string& folder) {
  std::cerr << "daybreak: the sweep was stopped; --resume goes on in " << folder << "\n";
  return kTryAgain;
}

}  // namespace

int sweep(const SweepOptions& options) {
  const auto sweep = configs::read_sweep(options.file);
  check_knobs(sweep);
  const auto points = sweep.points();
  if (points.empty()) throw UserError(options.file + ": the constraints allow no point");
  if (options.dry_run && options.json) {
    print_space(sweep, points);
    return 0;
  }
  std::optional<std::vector<size_t>> only;
  if (!options.points.empty()) only = read_points(options.points, points.size());
  const auto runs = runs_of(sweep, points, only);
  if (options.dry_run) {
    std::vector<const SweepRun*> distinct;
    std::set<std::string> seen;
    for (const SweepRun& run : runs)
      if (seen.insert(run.hash).second && run.refused.empty()) distinct.push_back(&run);
    return dry_run(sweep, options, runs, distinct);
  }
  if (options.out.empty()) throw UserError("sweep: --out FOLDER is needed for the results");
  if (options.task) {
    const auto results = SweepResults::shared(options.out);
    return run_all(sweep, to_do(runs, results), 1, results) ? 0 : kTryAgain;
  }
  const auto results = SweepResults::owned(options.out, options.resume);
  const auto todo = to_do(runs, results);
  if (options.slurm)
    run_on_slurm(options.file, todo, *options.slurm, results);
  else if (!run_all(sweep, todo, options.jobs, results))
    return interrupted(options.out);
  const size_t failed = results.write_tables(sweep, runs);
  std::cout << fmt::format("{}\n{} runs, {} simulated now, {} failed\n", sweep.title, runs.size(),
                           todo.size(), failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace daybreak::cli
