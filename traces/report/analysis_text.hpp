// Analyses of a run as text for a terminal and as JSON.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "traces/analysis/critical_path.hpp"
#include "traces/analysis/diff.hpp"
#include "traces/analysis/overlap.hpp"
#include "traces/analysis/stalls.hpp"
#include "traces/analysis/what_if.hpp"

namespace daybreak::traces {

// Busy and stall cycles by kind of unit over the whole run; each row adds up to its total.
std::string stall_table(const StallAccount&);
nlohmann::ordered_json stall_json(const StallAccount&);

std::string path_text(const CriticalPath&, double clock_hz);
nlohmann::ordered_json path_json(const CriticalPath&);

std::string diff_text(const RunDiff&, double clock_hz);
nlohmann::ordered_json diff_json(const RunDiff&);

// `measured`: cycles of a re-run with the knob set, 0 without one.
struct Prediction {
  WhatIf what;
  int64_t measured = 0;
};
std::string what_if_text(std::span<const Prediction>);
nlohmann::ordered_json what_if_json(std::span<const Prediction>);

std::string overlap_text(const OverlapAccount&);
nlohmann::ordered_json overlap_json(const OverlapAccount&);

}  // namespace daybreak::traces
