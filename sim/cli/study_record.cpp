#include "sim/cli/study_record.hpp"

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "configs/reader/errors.hpp"
#include "traces/event/atomic_file.hpp"
#include "traces/report/record.hpp"
#include "traces/report/table.hpp"

namespace daybreak::cli {

bool StudyRecord::pass() const {
  return std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return v.holds; });
}

std::string to_text(const StudyRecord& record) {
  traces::TextTable table;
  table.columns.push_back({.name = "run", .right = false});
  for (const auto& name : record.columns) table.columns.push_back({.name = name, .right = true});
  for (const auto& row : record.rows) {
    table.rows.push_back({row.name});
    table.rows.back().insert(table.rows.back().end(), row.cells.begin(), row.cells.end());
  }
  std::string out = record.title + "\n";
  if (!record.about.empty()) out += record.about + "\n";
  out += "\n" + table.text() + "\n";
  for (const auto& v : record.verdicts)
    out += std::string(v.holds ? "holds  " : "fails  ") + v.name + ": " + v.expression + "\n";
  return out;
}

std::string to_json(const StudyRecord& record) {
  nlohmann::ordered_json json{{"title", record.title},
                              {"runs", nlohmann::ordered_json::array()},
                              {"verdicts", nlohmann::ordered_json::array()}};
  for (const auto& row : record.rows) {
    nlohmann::ordered_json one{{"name", row.name},
                               {"table", nlohmann::ordered_json::object()},
                               {"metrics", nlohmann::ordered_json::object()}};
    for (size_t i = 0; i < row.cells.size(); ++i) one["table"][record.columns[i]] = row.cells[i];
    for (const auto& [name, value] : row.metrics) one["metrics"][name] = value;
    json["runs"].push_back(std::move(one));
  }
  for (const auto& v : record.verdicts)
    json["verdicts"].push_back(
        {{"name", v.name}, {"holds", v.holds}, {"expression", v.expression}});
  return json.dump(2) + "\n";
}

void write_study(const StudyRecord& record, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UserError("--out " + folder + ": the folder cannot be made: " + error.message());
  traces::write_file(folder + "/study.json", to_json(record));
}

}  // namespace daybreak::cli
