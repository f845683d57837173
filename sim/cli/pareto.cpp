#include "sim/cli/pareto.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "configs/reader/loader.hpp"
#include "configs/reader/words.hpp"
#include "traces/report/table.hpp"

namespace daybreak::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Point {
  std::string number, hash;
  std::vector<std::pair<std::string, std::string>> axes;
  std::vector<double> objectives;
};

using ByWorkload = std::map<std::string, std::vector<Point>>;

// Finished points with the objectives asked for.
ByWorkload read_points(const ParetoOptions& o) {
  const std::string path = o.folder + "/results.jsonl";
  std::istringstream lines(configs::read_file(path));
  ByWorkload out;
  int number = 0;
  for (std::string text; std::getline(lines, text);) {
    const auto line = configs::load_json_text(text, fmt::format("{}:{}", path, ++number));
    if (line.require("status").text() != "done") continue;
    Point p{.number = line.require("point").text(),
            .hash = line.require("hash").text(),
            .axes = {},
            .objectives = {}};
    const auto &axes = line.require("axes"), &values = line.require("objectives");
    for (size_t i = 0; i < axes.keys().size(); ++i)
      p.axes.emplace_back(axes.keys()[i].name, axes.values()[i].text());
    std::vector<std::string> known;
    for (const auto& key : values.keys()) known.push_back(key.name);
    for (const auto& name : o.objectives) {
      if (std::ranges::find(known, name) == known.end())
        throw UserError("--objectives: " + configs::in_quotes(name) + " is not " +
                        configs::any_of(known) + configs::did_you_mean(name, known));
      p.objectives.push_back(values.require(name).number());
    }
    out[line.require("workload").text()].push_back(std::move(p));
  }
  if (out.empty()) throw UserError(path + ": no run of it gave a result");
  return out;
}

bool dominates(const std::vector<double>& a, const std::vector<double>& b) {
  bool better = false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

void print(const std::string& workload, const std::vector<Point>& points,
           const std::vector<size_t>& front, const ParetoOptions& o) {
  traces::TextTable table{.columns = {{"point"}}, .rows = {}};
  for (const auto& axis : points[0].axes) table.columns.push_back({axis.first});
  for (const auto& name : o.objectives) table.columns.push_back({name});
  table.columns.push_back({"record", false});
  for (const size_t i : front) {
    std::vector<std::string> row{points[i].number};
    for (const auto& axis : points[i].axes) row.push_back(axis.second);
    for (const double value : points[i].objectives) row.push_back(fmt::format("{:.6g}", value));
    row.push_back("records/" + points[i].hash);
    table.rows.push_back(std::move(row));
  }
  std::cout << fmt::format("{}: {} of {} points\n\n{}\n", workload, front.size(), points.size(),
                           table.text());
}

}  // namespace

std::vector<size_t> front_of(const std::vector<std::vector<double>>& rows) {
  std::vector<size_t> out;
  for (size_t i = 0; i < rows.size(); ++i) {
    bool stays = true;
    for (size_t j = 0; j < rows.size() && stays; ++j)
      stays = !dominates(rows[j], rows[i]) && !(j < i && rows[j] == rows[i]);
    if (stays) out.push_back(i);
  }
  return out;
}

int pareto(const ParetoOptions& o) {
  Json json = Json::array();
  for (const auto& [workload, points] : read_points(o)) {
    std::vector<std::vector<double>> rows;
    for (const auto& p : points) rows.push_back(p.objectives);
    auto front = front_of(rows);
    std::ranges::sort(front, {}, [&](size_t i) { return std::pair(rows[i], i); });
    if (!o.json) {
      print(workload, points, front, o);
      continue;
    }
    for (const size_t i : front) {
      Json one{{"workload", workload},
               {"point", std::stoull(points[i].number)},
               {"hash", points[i].hash},
               {"axes", Json::object()},
               {"objectives", Json::object()}};
      for (const auto& [name, value] : points[i].axes) one["axes"][name] = value;
      for (size_t k = 0; k < o.objectives.size(); ++k)
        one["objectives"][o.objectives[k]] = points[i].objectives[k];
      json.push_back(std::move(one));
    }
  }
  if (o.json) std::cout << json.dump(2) << "\n";
  return 0;
}

}  // namespace daybreak::cli
