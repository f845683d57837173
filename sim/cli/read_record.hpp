// Reads back what `--out DIR` left: DIR/record.json. A record that this program wrote and reads
// gives the same bytes when it is written again.
#pragma once
#include <string>

#include "traces/report/record.hpp"

namespace daybreak::cli {

// UserError with file, line and column for what is no record.
traces::RunRecord read_record(const std::string& path);

// Files of a run's folder; UserError where there is none.
std::string record_file(const std::string& folder);
std::string events_file(const std::string& folder);

}  // namespace daybreak::cli
