// Predicts the cycles of a run with one knob changed, from its graph: the work that the knob
// governs is scaled, everything else keeps its length and its order.
#pragma once
#include <string>
#include <vector>

#include "traces/analysis/run_graph.hpp"

namespace daybreak::traces {

struct WhatIf {
  std::string knob;
  double from = 0, to = 0;
  int64_t cycles = 0, predicted = 0;
};

// UserError for a knob of which no prediction is known (the sentence lists those that are).
WhatIf what_if(const RunGraph&, const std::string& knob, double value);
// Knobs that can be predicted, in the order of the chip's description.
std::vector<std::string> predictable_knobs();

}  // namespace daybreak::traces
