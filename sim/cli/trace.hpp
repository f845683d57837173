// The verbs that read what runs left: `daybreak trace summary|stalls|critical-path|roofline|diff|export|report`.
#pragma once
#include <string>
#include <vector>

namespace daybreak::cli {

struct TraceOptions {
  std::vector<std::string> folders;   // one; two for diff
  std::vector<std::string> what_if;   // "chip.core.dma.outstanding=64"
  std::vector<std::string> measured;  // folders of re-runs, one for each what_if
  std::string format = "chrome", to;  // export; `to` also of report
  bool json = false;
};

int trace_summary(const TraceOptions&);
int trace_stalls(const TraceOptions&);
int trace_critical_path(const TraceOptions&);
int trace_roofline(const TraceOptions&);
int trace_diff(const TraceOptions&);
int trace_export(const TraceOptions&);
int trace_report(const TraceOptions&);

}  // namespace daybreak::cli
