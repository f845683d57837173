// check: runs a list and compares what they give with committed records: what a user's own
// continuous integration needs, and what ours runs over traces/golden.
//
//   # DIR/golden.yaml
//   runs:
//     - name: day0-decode-4096                      # DIR/day0-decode-4096/ holds its records
//       words: [day0, --model, deepseek-v3.2, --context, 4096]
//       tolerance: 0                                # percent of cycles; optional
#pragma once
#include <string>
#include <vector>

#include "traces/report/record.hpp"

namespace daybreak::cli {

struct CheckOptions {
  std::string folder, junit;
};

// 0 when every run gives what its records say, else 1; prints a summary in Markdown.
int check(const CheckOptions&);

// What differs between a record and the committed one, a sentence each; cycles may differ by
// `tolerance` percent, bytes and values not at all.
std::vector<std::string> differences(const traces::RunRecord& golden, const traces::RunRecord& now,
                                     double tolerance);

}  // namespace daybreak::cli
