// The folder of a sweep:
//
//   DIR/points/HASH.json     a finished run, by atomic rename: what --resume looks for
//   DIR/records/HASH/        its record.json
//   DIR/results.jsonl, .csv  all runs in the order of the sweep, when it is through
//   DIR/report.html          their page, of up to 20000 runs
//
// A run gives the same bytes wherever it happens, so tasks of an array may write into one folder: where two
// of them ran the same point, either result stands.
#pragma once
#include <string>
#include <vector>

#include "sim/cli/sweep_runs.hpp"
#include "traces/report/record.hpp"

namespace daybreak::cli {

class SweepResults {
 public:
  // For the one sweep that may own the folder at a time. UserError when another one does, or when it
  // holds results and `resume` is false.
  static SweepResults owned(const std::string& folder, bool resume);
  // For a task beside others.
  static SweepResults shared(const std::string& folder);
  ~SweepResults();
  SweepResults(const SweepResults&) = delete;
  SweepResults& operator=(const SweepResults&) = delete;

  const std::string& folder() const { return folder_; }
  // Where runs under way keep their files; it goes away again.
  const std::string& running() const { return running_; }
  std::string point(const std::string& hash) const { return folder_ + "/points/" + hash + ".json"; }
  bool has(const SweepRun&) const;
  void failed(const SweepRun&, const std::string& message) const;
  // Keeps the record in `from`, then says that the run is finished.
  void done(const SweepRun&, const std::string& from, const std::vector<traces::Metric>&) const;
  // Tables and page of these runs; gives the number of failed ones.
  size_t write_tables(const configs::Sweep&, const std::vector<SweepRun>&) const;

 private:
  SweepResults(std::string folder, std::string running, int lock);
  std::string folder_, running_;
  int lock_ = -1;
};

}  // namespace daybreak::cli
