// A sweep as job arrays of Slurm. A task of an array is the program once more, on the points of one file.
// Missing results, not the queue, say what is submitted again: the queue is only asked whether an array is over.
//
//   DIR/slurm/array     id of the array under way: a coordinator that comes back waits for it first
//   DIR/slurm/script    what every task runs
//   DIR/slurm/tasks/N   the points of task N, one a line
//   DIR/slurm/log-N     what task N said, over all arrays
//
// The folder goes away when every result is there.
#pragma once
#include <string>
#include <vector>

#include "sim/cli/sweep_results.hpp"

namespace daybreak::cli {

struct SlurmOptions {
  std::string partition;  // empty: the cluster's default
  int points_per_task = 20;
};

// Until each run has a result. CheckError when three arrays in a row left none; UserError when Slurm
// takes no array.
void run_on_slurm(const std::string& sweep_file, const std::vector<const SweepRun*>&,
                  const SlurmOptions&, const SweepResults&);

}  // namespace daybreak::cli
