// The runs of a sweep: every variant of the chip with every workload.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "configs/reader/sweep.hpp"

namespace daybreak::cli {

// A chip and what is set on top of it.
struct SweepVariant {
  std::string chip;
  std::vector<configs::Setting> knobs;
};
SweepVariant variant_of(const configs::Sweep&, const std::vector<configs::Setting>& point);

// One variant with one workload.
struct SweepRun {
  size_t point = 0;  // its place in Sweep::points()
  const configs::SweepWorkload* workload = nullptr;
  std::vector<configs::Setting> settings;  // one for each axis
  SweepVariant variant;
  std::string hash, refused;  // refused: why there is no such chip
};

// UserError for an axis whose knob no chip has, and for a chip that cannot be read.
void check_knobs(const configs::Sweep&);

// Numbers of points, one a line, each once; `count`: how many points the sweep has.
std::vector<size_t> read_points(const std::string& file, size_t count);

// In the order of the points; of these `only`, or all. The workloads are those of `sweep`.
std::vector<SweepRun> runs_of(const configs::Sweep& sweep,
                              const std::vector<std::vector<configs::Setting>>& points,
                              const std::optional<std::vector<size_t>>& only);

// What the program is started with for one run, its record to be left in `out`.
std::vector<std::string> words_of(const SweepRun&, const std::string& out);

}  // namespace daybreak::cli
