#include "sim/cli/output.hpp"

#include <filesystem>
#include <iostream>

#include <fmt/format.h>

#include "configs/reader/errors.hpp"
#include "traces/report/table.hpp"

namespace daybreak::cli {
namespace {

// "fused selection: 5 launches instead of 7, 41.2 us instead of 55.0 us"
std::string comparison(const traces::RunRecord& a, const traces::RunRecord& b) {
  return fmt::format("{}: {} launches instead of {} ({} saved), {:.1f} us instead of {:.1f} us\n",
                     b.workload.back().value, b.totals.launches, a.totals.launches,
                     a.totals.launches - b.totals.launches, b.totals.microseconds,
                     a.totals.microseconds);
}

}  // namespace

std::string Output::folder(const std::string& name) {
  if (first_.empty()) first_ = name;
  const std::string path = name == first_ ? options_.out : options_.out + "/" + name;
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw UserError("--out " + path + ": the folder cannot be made: " + error.message());
  return path;
}

std::string Output::trace_folder(const std::string& name) {
  if (options_.out.empty()) return {};
  const std::string path = folder(name);
  // Files of an earlier run do not belong to the new record.
  std::error_code none;
  for (const char* file : {"/trace.pftrace", "/run.events"})
    std::filesystem::remove(path + file, none);
  if (options_.trace == "off") return {};
  written_.push_back(path + "/trace.pftrace");
  if (options_.trace == "instruction") written_.push_back(path + "/run.events");
  return path;
}

void Output::write(const traces::RunRecord& record, const std::string& name) {
  if (options_.out.empty()) return;
  const std::string path = folder(name);
  traces::write_record(record, path);
  written_.push_back(path + "/record.json");
}

void Output::print(const std::string& title, const std::vector<traces::RunRecord>& records) const {
  if (options_.json) {
    if (records.size() == 1) {
      std::cout << traces::to_json(records[0]);
      return;
    }
    std::cout << "[\n";
    for (size_t i = 0; i < records.size(); ++i)
      std::cout << traces::to_json(records[i]) << (i + 1 < records.size() ? ",\n" : "");
    std::cout << "]\n";
    return;
  }
  std::cout << title << "\n";
  for (const auto& record : records) {
    if (records.size() > 1)
      std::cout << "\n== selection: " << record.workload.back().value << " ==\n";
    std::cout << "\n"
              << traces::kernel_table(record) << "\n"
              << traces::waterfall_table(record) << "\n"
              << traces::verdict_lines(record);
  }
  if (records.size() == 2) std::cout << "\n" << comparison(records[0], records[1]);
  if (!records.empty()) std::cout << "\n" << traces::assumed_lines(records[0]);
  if (written_.empty()) std::cout << "\nnothing written; --out DIR keeps record and trace\n";
  for (const auto& path : written_) std::cout << "wrote " << path << "\n";
}

}  // namespace daybreak::cli
