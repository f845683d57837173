// Where a verb's results go: tables or JSON on standard output, files under --out.
#pragma once
#include <string>
#include <vector>

#include "sim/cli/options.hpp"
#include "traces/report/record.hpp"

namespace daybreak::cli {

// DIR/record.json and DIR/trace.pftrace for the first run; further runs (the fused form beside the
// separate launches) go to DIR/NAME/.
class Output {
 public:
  explicit Output(const CommonOptions& options) : options_(options) {}
  // Folder for the traces of the run `name`; empty without --out or with --trace off. Makes it.
  std::string trace_folder(const std::string& name);
  void write(const traces::RunRecord& record, const std::string& name);
  // Everything a person reads, or the records as JSON.
  void print(const std::string& title, const std::vector<traces::RunRecord>& records) const;

 private:
  std::string folder(const std::string& name);
  const CommonOptions& options_;
  std::string first_;
  std::vector<std::string> written_;
};

}  // namespace daybreak::cli
