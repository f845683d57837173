#include "traces/report/analysis_text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "traces/report/table.hpp"

namespace daybreak::traces {
namespace {

using Json = nlohmann::ordered_json;

std::string percent(int64_t part, int64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f}", 100.0 * double(part) / double(whole));
}

std::string number(int64_t v) { return std::to_string(v); }

std::string us(int64_t cycles, double clock_hz) {
  return fmt::format("{:.2f}", double(cycles) / clock_hz * 1e6);
}

// Accounts of one kind of unit over the whole run, in the order of the units.
struct Kind {
  std::string name;
  int64_t units = 0;
  CauseCycles cycles{};
};
std::vector<Kind> kinds_of(const StallAccount& account) {
  std::vector<Kind> out;
  for (const UnitInfo& u : account.units()) {
    auto at = std::find_if(out.begin(), out.end(), [&](const Kind& k) { return k.name == u.kind; });
    if (at == out.end()) at = out.insert(out.end(), {.name = u.kind});
    ++at->units;
    const CauseCycles& mine = account.unit_cycles(u.id);
    for (size_t i = 0; i < mine.size(); ++i) at->cycles[i] += mine[i];
  }
  return out;
}

std::string rows_text(const std::vector<CriticalPath::Row>& rows, const char* title, int64_t all,
                      bool knobs) {
  TextTable table{.columns = {{title, false}, {"cycles on path"}, {"%"}, {"gain at most"}, {"%"}}};
  if (knobs) table.columns.push_back({"knob", false});
  for (const CriticalPath::Row& r : rows) {
    table.rows.push_back({std::string(r.name), number(r.cycles), percent(r.cycles, all),
                          number(r.gain), percent(r.gain, all)});
    if (knobs) table.rows.back().emplace_back(r.knobs);
  }
  return table.text();
}

std::string signed_number(int64_t v) { return fmt::format("{:+}", v); }

Json changes_json(const std::vector<StepChange>& list) {
  Json out = Json::array();
  for (const StepChange& c : list)
    out.push_back({{"step", name_of(c.step)},
                   {"before", c.before},
                   {"after", c.after},
                   {"change", c.change()}});
  return out;
}

Json rows_json(const std::vector<CriticalPath::Row>& rows) {
  Json out = Json::array();
  for (const CriticalPath::Row& r : rows)
    out.push_back({{"name", r.name}, {"cycles", r.cycles}, {"gain", r.gain}});
  return out;
}

}  // namespace

std::string stall_table(const StallAccount& account) {
  std::string out;
  for (const Kind& k : kinds_of(account)) {
    TextTable table{
        .columns = {{fmt::format("{} ({})", k.name, k.units), false}, {"cycles"}, {"%"}}};
    const int64_t all = total(k.cycles);
    for (size_t i = 0; i < k.cycles.size(); ++i)
      if (k.cycles[i] != 0)
        table.rows.push_back(
            {std::string(name_of(Cause(i))), number(k.cycles[i]), percent(k.cycles[i], all)});
    table.rows.push_back({});
    table.rows.push_back({"total", number(all), percent(all, all)});
    out += (out.empty() ? "" : "\n") + table.text();
  }
  return out;
}

Json stall_json(const StallAccount& account) {
  Json out = Json::object();
  for (const Kind& k : kinds_of(account)) {
    Json causes = Json::object();
    for (size_t i = 0; i < k.cycles.size(); ++i)
      if (k.cycles[i] != 0) causes[std::string(name_of(Cause(i)))] = k.cycles[i];
    out[k.name] = {{"units", k.units}, {"total", total(k.cycles)}, {"cycles", causes}};
  }
  return out;
}

std::string path_text(const CriticalPath& path, double clock_hz) {
  std::string out = fmt::format("critical path: {} cycles, {} us, {} pieces\n\n", path.cycles,
                                us(path.cycles, clock_hz), path.pieces.size());
  out +=
      rows_text(path.steps, "step", path.cycles, true) +
      "gain at most: by how much the run is shorter if this costs nothing and all else keeps its order\n\n";
  out += rows_text(path.whos, "all of", path.cycles, false) + "\n";
  TextTable slack{.columns = {{"kernel", false}, {"unit", false}, {"least slack, cycles"}}};
  for (const CriticalPath::Slack& s : path.slack)
    slack.rows.push_back({s.kernel, s.unit, number(s.cycles)});
  return out + slack.text() +
         "least slack: how late any instruction of the unit may be without delaying the run\n";
}

Json path_json(const CriticalPath& path) {
  Json pieces = Json::array(), slack = Json::array();
  for (const CriticalPath::Piece& p : path.pieces)
    pieces.push_back({{"kernel", p.kernel},
                      {"unit", p.unit},
                      {"step", name_of(p.step)},
                      {"begin", p.begin},
                      {"end", p.end}});
  for (const CriticalPath::Slack& s : path.slack)
    slack.push_back({{"kernel", s.kernel}, {"unit", s.unit}, {"cycles", s.cycles}});
  return {{"cycles", path.cycles},
          {"steps", rows_json(path.steps)},
          {"all_of", rows_json(path.whos)},
          {"slack", slack},
          {"pieces", pieces}};
}

std::string diff_text(const RunDiff& d, double clock_hz) {
  std::string out =
      fmt::format("{} cycles ({} us) became {} ({} us): {:+}, {:+.1f} %\n\n", d.before,
                  us(d.before, clock_hz), d.after, us(d.after, clock_hz), d.after - d.before,
                  d.before ? 100.0 * double(d.after - d.before) / double(d.before) : 0.0);
  TextTable steps{
      .columns = {{"cause, on the critical path", false}, {"before"}, {"after"}, {"change"}}};
  for (const StepChange& c : d.steps)
    steps.rows.push_back({std::string(name_of(c.step)), number(c.before), number(c.after),
                          signed_number(c.change())});
  steps.rows.push_back({});
  steps.rows.push_back(
      {"total", number(d.before), number(d.after), signed_number(d.after - d.before)});
  out += steps.text() + "\n";
  TextTable kernels{.columns = {{"kernel", false},
                                {"before"},
                                {"after"},
                                {"change"},
                                {"tasks"},
                                {"mean task before"},
                                {"after"},
                                {"most changed", false}}};
  for (const KernelDiff& k : d.kernels) {
    const int64_t both = std::min(k.tasks_before, k.tasks_after);
    const auto mean = [&](int64_t sum) { return both ? number(sum / both) : std::string("-"); };
    kernels.rows.push_back(
        {k.kernel.empty() ? "between launches" : k.kernel, k.in_a ? number(k.before) : "absent",
         k.in_b ? number(k.after) : "absent", signed_number(k.after - k.before),
         k.tasks_before == k.tasks_after ? number(both)
                                         : fmt::format("{} -> {}", k.tasks_before, k.tasks_after),
         mean(k.task_cycles_before), mean(k.task_cycles_after),
         k.steps.empty() ? "-"
                         : fmt::format("{} {:+}", name_of(k.steps[0].step), k.steps[0].change())});
  }
  return out + kernels.text();
}

Json diff_json(const RunDiff& d) {
  Json kernels = Json::array();
  for (const KernelDiff& k : d.kernels)
    kernels.push_back({{"kernel", k.kernel},
                       {"before", k.before},
                       {"after", k.after},
                       {"tasks_before", k.tasks_before},
                       {"tasks_after", k.tasks_after},
                       {"task_cycles_before", k.task_cycles_before},
                       {"task_cycles_after", k.task_cycles_after},
                       {"causes", changes_json(k.steps)}});
  return {{"before", d.before},
          {"after", d.after},
          {"causes", changes_json(d.steps)},
          {"kernels", kernels}};
}

std::string what_if_text(std::span<const Prediction> list) {
  TextTable table{
      .columns = {
          {"what if", false}, {"from"}, {"to"}, {"cycles now"}, {"predicted"}, {"change, %"}}};
  const bool measured =
      std::any_of(list.begin(), list.end(), [](const auto& p) { return p.measured; });
  if (measured) table.columns.insert(table.columns.end(), {{"re-run"}, {"error, %"}});
  for (const Prediction& p : list) {
    const WhatIf& w = p.what;
    table.rows.push_back(
        {w.knob, fmt::format("{:g}", w.from), fmt::format("{:g}", w.to), number(w.cycles),
         number(w.predicted),
         fmt::format("{:+.1f}", 100.0 * double(w.predicted - w.cycles) / double(w.cycles))});
    if (!measured) continue;
    table.rows.back().push_back(p.measured ? number(p.measured) : "-");
    table.rows.back().push_back(
        p.measured
            ? fmt::format("{:+.1f}", 100.0 * double(w.predicted - p.measured) / double(p.measured))
            : "-");
  }
  return table.text();
}

Json what_if_json(std::span<const Prediction> list) {
  Json out = Json::array();
  for (const Prediction& p : list) {
    Json one = {{"knob", p.what.knob},
                {"from", p.what.from},
                {"to", p.what.to},
                {"cycles", p.what.cycles},
                {"predicted", p.what.predicted}};
    if (p.measured) one["measured"] = p.measured;
    out.push_back(one);
  }
  return out;
}

std::string overlap_text(const OverlapAccount& account) {
  const auto cycles = account.cycles();
  TextTable table{.columns = {{"at work on a core with a task", false}, {"core cycles"}, {"%"}}};
  for (unsigned set = 0; set < cycles.size(); ++set)
    table.rows.push_back({OverlapAccount::name_of_set(set), number(cycles[set]),
                          percent(cycles[set], account.task_cycles())});
  table.rows.push_back({});
  table.rows.push_back({"total", number(account.task_cycles()), percent(1, 1)});
  return table.text() + fmt::format("loads in flight on a core with a task, mean: {:.2f}\n",
                                    account.loads_in_flight());
}

Json overlap_json(const OverlapAccount& account) {
  const auto cycles = account.cycles();
  Json out = Json::object();
  for (unsigned set = 0; set < cycles.size(); ++set)
    out[OverlapAccount::name_of_set(set)] = cycles[set];
  return out;
}

}  // namespace daybreak::traces
