// One HTML file of a run: overview, critical path, waterfall, stalls, roofline, tables. It holds
// everything it needs (works from file://, asks no network) and is readable at 390 px.
#pragma once
#include <string>
#include <vector>

#include "traces/analysis/critical_path.hpp"
#include "traces/analysis/overlap.hpp"
#include "traces/analysis/stalls.hpp"
#include "traces/event/event_file.hpp"
#include "traces/report/record.hpp"
#include "traces/report/timeline.hpp"

namespace daybreak::traces {

struct ReportParts {
  const RunRecord& record;
  const RunFacts& facts;
  const CriticalPath& path;
  const StallAccount& stalls;
  const OverlapAccount& overlap;
  const Timeline& timeline;
};

std::string report_html(const ReportParts&);

}  // namespace daybreak::traces
