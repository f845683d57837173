// Runs a plan on a chip with the observers a report needs, and turns what they saw into rows.
#pragma once
#include <string>
#include <vector>

#include "kernels/runtime/plan/step.hpp"
#include "sim/chip/chip.hpp"
#include "sim/cli/options.hpp"
#include "traces/report/record.hpp"

namespace daybreak::cli {

struct Simulated {
  sim::RunResult result;
  std::vector<int64_t> active_cycles;  // per launch: its first task started to its last one ended
  std::vector<traces::KernelRow> kernels;
  traces::Totals totals;
  std::vector<traces::Fact> facts;           // further results that have a name and a value
  std::vector<traces::Metric> metrics;       // further figures of the case that a study may name
  std::vector<traces::VerdictRow> verdicts;  // every kernel's values against the reference
};

// `folder`: where trace.pftrace and, at the level "instruction", run.events go; empty: nowhere.
traces::VerdictRow row_of(const ref::Verdict&);

Simulated simulate(kernels::Plan& plan, const sim::ChipConfig& chip, const CommonOptions& options,
                   const std::string& folder);

// The parts of a record that do not depend on the run's kernels.
traces::RunRecord record_head(const std::string& verb, const sim::ChipConfig& chip,
                              const CommonOptions& options);
// Moves what a run gave into its record.
void fill(traces::RunRecord& record, const Simulated& run);

}  // namespace daybreak::cli
