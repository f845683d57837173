// `daybreak run dram ...`: traffic of memory.md on the HBM stacks alone.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "sim/cli/arguments.hpp"
#include "sim/cli/options.hpp"

namespace daybreak::cli {

struct DramPoint {
  std::string name;                       // "closed", "load 0.5"
  std::map<std::string, double> metrics;  // in percent, ns, us, GB/s
  double requests_per_cpu_second = 0;     // of this host: never part of a record
};

// One point, or one per load with load=curve.
std::vector<DramPoint> dram_points(Arguments, const sim::ChipConfig&, uint64_t seed);
int run_dram(const std::vector<std::string>& words, const CommonOptions&);

}  // namespace daybreak::cli
