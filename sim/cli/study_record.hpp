// What a study leaves: its table, every metric of every run, its verdicts.
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace daybreak::cli {

struct StudyRecord {
  struct Row {
    std::string name;
    std::vector<std::string> cells;                       // one per column
    std::vector<std::pair<std::string, double>> metrics;  // by name, ascending
  };
  struct Verdict {
    std::string name, expression;
    bool holds = false;
  };
  std::string title, about;
  std::vector<std::string> columns;
  std::vector<Row> rows;
  std::vector<Verdict> verdicts;
  bool pass() const;
};

std::string to_text(const StudyRecord&);
std::string to_json(const StudyRecord&);
// DIR/study.json by atomic rename; makes the folder.
void write_study(const StudyRecord&, const std::string& folder);

}  // namespace daybreak::cli
