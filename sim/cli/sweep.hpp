// sweep: every variant of a chip with every workload (configs/reader/sweep.hpp), one process a run, on this
// host or as job arrays of Slurm (sim/cli/slurm.hpp); sim/cli/sweep_results.hpp says what it leaves.
//
// A run's hash covers chip, workload and version: variants that come to the same chip are simulated once.
#pragma once
#include <optional>
#include <string>

#include "sim/cli/slurm.hpp"

namespace daybreak::cli {

struct SweepOptions {
  std::string file, out;
  std::string points;  // file with the numbers of the points to run; empty: all
  int jobs = 1;
  bool resume = false, dry_run = false;
  bool json = false;  // of a dry run: axes and points, for programs
  bool task = false;  // one of an array: shares the folder, writes no table
  std::optional<SlurmOptions> slurm;
};

// 0 when every run gave a result, 1 when one failed, 75 when it was stopped from outside.
int sweep(const SweepOptions&);

}  // namespace daybreak::cli
