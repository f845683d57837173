// pareto: the points of a sweep that no other point beats in every objective, for each workload.
#pragma once
#include <string>
#include <vector>

namespace daybreak::cli {

struct ParetoOptions {
  std::string folder;  // what a sweep's --out left
  std::vector<std::string> objectives = {"us", "energy_uj_nominal", "area_mm2_nominal"};
  bool json = false;
};

int pareto(const ParetoOptions&);

// Positions of the rows that no other row dominates, ascending: less is better, a row dominates one
// that it is nowhere worse than and somewhere better. Of equal rows the first stays.
std::vector<size_t> front_of(const std::vector<std::vector<double>>& rows);

}  // namespace daybreak::cli
