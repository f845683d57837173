// A run's record as text for a terminal: aligned ASCII columns, no colours, no locale.
#pragma once
#include <string>
#include <vector>

#include "traces/report/record.hpp"

namespace daybreak::traces {

// Columns of text under a heading. Numbers (right = true) are aligned to the right.
struct TextTable {
  struct Column {
    std::string name;
    bool right = true;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // each as long as columns; an empty row is a rule
  std::string text() const;
};

std::string kernel_table(const RunRecord&);  // per kernel, then the chain's totals
std::string memory_table(const RunRecord&);  // hits of HBM rows, L2, TLB and scale cache, refresh
std::string waterfall_table(const RunRecord&);  // microseconds by step, per kernel
std::string verdict_lines(const RunRecord&);    // "pass  name: metrics (tolerance)"
std::string assumed_lines(const RunRecord&);
std::string report_text(const RunRecord&);  // all of these, with headings

}  // namespace daybreak::traces
