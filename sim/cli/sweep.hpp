// sweep: every variant of a chip with every workload (configs/reader/sweep.hpp), one process a run.
//
//   DIR/points/HASH.json     a finished run, by atomic rename: what --resume looks for
//   DIR/records/HASH/        its record.json
//   DIR/results.jsonl, .csv  all runs in the order of the sweep, when it is through
//
// HASH covers chip, workload and version: variants that come to the same chip are simulated once.
#pragma once
#include <string>

namespace daybreak::cli {

struct SweepOptions {
  std::string file, out;
  int jobs = 1;
  bool resume = false, dry_run = false;
};

// 0 when every run gave a result, else 1.
int sweep(const SweepOptions&);

}  // namespace daybreak::cli
