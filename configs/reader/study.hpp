// A study: runs, the table to print, and verdicts that are computed from the runs' metrics.
//
//   title: Index overhead per selected key
//   about: one or two sentences printed under the title            # optional
//   defaults: {chip: mx-dma, values: full}                         # optional, for all runs
//   runs:
//     - name: table                    # letters, digits and _
//       kernel: sparse_mla             # or   day0: deepseek-v3.2   (a preset or a config.json)
//       args: {phase: decode, context: 32768}
//       chip: mx-dma
//       set: {chip.cores: 1}
//       values: steering               # full | steering
//       index: random                  # computed | random | local | a file
//       routing: balanced              # computed | balanced | power-law:A | a file
//   grids:                             # the cross product of the lists; last list varies fastest
//     - name: by_context               # runs are called by_context_8192, by_context_16384, ...
//       kernel: sparse_mla
//       args: {phase: decode}
//       over: {args.context: [8192, 16384], set.chip.cores: [1, 32]}
//   table:
//     - {title: "us", value: us, digits: 1}             # per run; an expression over its metrics
//   verdicts:
//     - {name: "flat in context", holds: "max(by_context.us) / min(by_context.us) <= 1.15"}
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "configs/reader/expression.hpp"
#include "configs/reader/setting.hpp"

namespace daybreak::configs {

struct StudyRun {
  std::string name;
  std::string kernel;                                     // empty: a day0 run
  std::string model;                                      // of a day0 run: preset name or path
  std::vector<std::pair<std::string, std::string>> args;  // in file order
  std::string chip = "mx-dma";
  std::vector<Setting> set;
  std::string values = "full", index = "computed", routing = "computed";
  Position at;
};

// Runs that came from one `grids` entry (or one single run, under its own name).
struct StudyGroup {
  std::string name;
  std::vector<size_t> runs;  // positions in Study::runs
};

struct StudyColumn {
  std::string title;
  Expression value;
  int digits = 1;  // behind the point
};

struct StudyVerdict {
  std::string name;
  Expression holds;
};

struct Study {
  std::string title, about;
  std::vector<StudyRun> runs;      // grids expanded, behind the single runs
  std::vector<StudyGroup> groups;  // what expressions may name
  std::vector<StudyColumn> columns;
  std::vector<StudyVerdict> verdicts;

  const StudyGroup* group(const std::string& name) const;
  // A lookup for verdicts: `metric(run, name)` gives one number or nothing; a numeric argument of
  // the run is a metric too. Unknown metrics are a UserError.
  using Metric = std::function<std::optional<double>(size_t run, const std::string& name)>;
  Expression::Lookup lookup(Metric metric) const;
  // The same for the column cells of one run.
  Expression::Lookup lookup(Metric metric, size_t run) const;
};

// Throws UserError for unknown keys, names that clash, verdicts that name no run.
Study read_study(const std::string& path);
Study read_study_text(const std::string& text, const std::string& name);

}  // namespace daybreak::configs
