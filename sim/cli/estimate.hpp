// What a variant costs: figures of its run, and estimates of energy, area and HBM cost from a table
// (configs/estimates/*.yaml) that states sources and ranges.
#pragma once
#include <string>
#include <vector>

#include "sim/chip/config.hpp"
#include "traces/report/record.hpp"

namespace daybreak::cli {

struct Estimate {
  double low = 0, nominal = 0, high = 0;
};

struct EstimateTable {
  Estimate hbm_bit, l2_bit, flop;  // pJ
  Estimate sram_bit, mac;          // um2
  Estimate hbm_gb, hbm_stack;      // USD
};

EstimateTable read_estimates(const std::string& name_or_file);

int64_t sram_bytes(const sim::ChipConfig&);  // scratchpads, latches, scale caches, L2

// us, hbm_bytes, sram_bytes, then low, nominal and high of energy_uj, area_mm2 and hbm_usd
// ("energy_uj_low"); always in this order.
std::vector<traces::Metric> objectives(const traces::RunRecord&, const sim::ChipConfig&,
                                       const EstimateTable&);

}  // namespace daybreak::cli
