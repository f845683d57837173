#include "sim/cli/trace.hpp"

#include <charconv>
#include <iostream>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "configs/reader/setting.hpp"
#include "configs/reader/words.hpp"
#include "sim/cli/read_record.hpp"
#include "traces/event/atomic_file.hpp"
#include "traces/event/chrome.hpp"
#include "traces/event/perfetto.hpp"
#include "traces/report/analysis_text.hpp"
#include "traces/report/html.hpp"
#include "traces/report/roofline.hpp"
#include "traces/report/table.hpp"

namespace daybreak::cli {
namespace {

const std::string& only_folder(const TraceOptions& o, const char* verb) {
  if (o.folders.size() != 1)
    throw UserError(fmt::format("trace {} takes one folder that a run left with --out, not {}",
                                verb, o.folders.size()));
  return o.folders[0];
}

void print(bool json, const std::string& text, const nlohmann::ordered_json& value) {
  std::cout << (json ? value.dump(2) + "\n" : text);
}

traces::WhatIf predict(const traces::RunGraph& run, const std::string& text) {
  const auto setting = configs::parse_setting(text, {.file = "--what-if " + text});
  double value = 0;
  const char *begin = setting.value.data(), *end = begin + setting.value.size();
  const auto [at, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || at != end)
    throw UserError(fmt::format("--what-if {}: {} is not a number in the knob's own unit", text,
                                configs::in_quotes(setting.value)));
  return traces::what_if(run, setting.path, value);
}

std::vector<traces::Prediction> predictions(const TraceOptions& o, const traces::RunGraph& run) {
  if (!o.measured.empty() && o.measured.size() != o.what_if.size())
    throw UserError(fmt::format("--measured takes one folder for each --what-if: {} for {}",
                                o.measured.size(), o.what_if.size()));
  std::vector<traces::Prediction> out;
  for (size_t i = 0; i < o.what_if.size(); ++i) {
    out.push_back({.what = predict(run, o.what_if[i])});
    if (o.measured.empty()) continue;
    const auto again = traces::read_facts(events_file(o.measured[i]));
    const auto& what = out.back().what;
    if (again.knob(what.knob) != what.to)
      throw UserError(fmt::format("--measured {}: this run has {} = {:g}, not {:g}", o.measured[i],
                                  what.knob, again.knob(what.knob), what.to));
    out.back().measured = traces::replay_events(events_file(o.measured[i]), {}).cycles;
  }
  return out;
}

}  // namespace

int trace_summary(const TraceOptions& o) {
  const auto& folder = only_folder(o, "summary");
  const auto record = read_record(record_file(folder));
  traces::OverlapAccount overlap;
  traces::Observer* const observers[] = {&overlap};
  const auto run = traces::replay_events(events_file(folder), observers);
  std::string text = fmt::format("{} on {}: {} cycles, {:.2f} us\n\n", record.verb, record.chip,
                                 run.cycles, double(run.cycles) / run.facts.clock_hz * 1e6);
  text += traces::kernel_table(record) + "\n" + traces::waterfall_table(record) + "\n" +
          traces::memory_table(record) + "\n" + traces::overlap_text(overlap);
  if (run.dropped > 0)
    text += fmt::format("the trace's size cap dropped {} instructions and arrows\n", run.dropped);
  nlohmann::ordered_json json = {
      {"cycles", run.cycles},
      {"dropped", run.dropped},
      {"overlap", traces::overlap_json(overlap)},
      {"loads_in_flight", overlap.loads_in_flight()},
      {"record", nlohmann::ordered_json::parse(traces::to_json(record))}};
  print(o.json, text, json);
  return 0;
}

int trace_stalls(const TraceOptions& o) {
  traces::StallAccount account;
  traces::Observer* const observers[] = {&account};
  traces::replay_events(events_file(only_folder(o, "stalls")), observers);
  print(o.json, traces::stall_table(account), traces::stall_json(account));
  return 0;
}

int trace_critical_path(const TraceOptions& o) {
  const auto run = traces::read_run_graph(events_file(only_folder(o, "critical-path")));
  const auto what_if = predictions(o, run);
  if (!what_if.empty()) {
    print(o.json, traces::what_if_text(what_if), traces::what_if_json(what_if));
    return 0;
  }
  const auto path = traces::critical_path(run);
  print(o.json, traces::path_text(path, run.facts.clock_hz), traces::path_json(path));
  return 0;
}

int trace_roofline(const TraceOptions& o) {
  const auto& folder = only_folder(o, "roofline");
  const auto record = read_record(record_file(folder));
  const auto facts = traces::read_facts(events_file(folder));
  const auto points = traces::roofline(record, facts);
  print(o.json, traces::roofline_text(points, facts), traces::roofline_json(points, facts));
  return 0;
}

int trace_diff(const TraceOptions& o) {
  if (o.folders.size() != 2)
    throw UserError(fmt::format("trace diff takes two folders that runs left with --out, not {}",
                                o.folders.size()));
  const auto a = traces::read_diff_side(events_file(o.folders[0])),
             b = traces::read_diff_side(events_file(o.folders[1]));
  const auto d = traces::diff(a, b);
  print(o.json, traces::diff_text(d, b.facts.clock_hz), traces::diff_json(d));
  return 0;
}

int trace_export(const TraceOptions& o) {
  const auto& folder = only_folder(o, "export");
  const auto events = events_file(folder);
  const auto facts = traces::read_facts(events);
  std::unique_ptr<traces::Observer> writer;
  std::string to = o.to;
  if (o.format == "chrome") {
    if (to.empty()) to = folder + "/trace.json";
    writer = std::make_unique<traces::ChromeWriter>(to, facts);
  } else if (o.format == "perfetto") {
    if (to.empty()) to = folder + "/trace.pftrace";
    writer = std::make_unique<traces::PerfettoWriter>(
        to, traces::PerfettoOptions{
                .clock_hz = facts.clock_hz, .chip = facts.chip, .kernels = facts.kernels});
  } else {
    throw UserError("--format: " + configs::in_quotes(o.format) + " is not chrome or perfetto" +
                    configs::did_you_mean(o.format, {"chrome", "perfetto"}));
  }
  traces::Observer* const observers[] = {writer.get()};
  traces::replay_events(events, observers);
  std::cout << "wrote " << to << "\n";
  return 0;
}

int trace_report(const TraceOptions& o) {
  const auto& folder = only_folder(o, "report");
  const auto events = events_file(folder);
  const auto record = read_record(record_file(folder));
  const auto run = traces::read_run_graph(events);
  const auto path = traces::critical_path(run);
  traces::StallAccount stalls;
  traces::OverlapAccount overlap;
  traces::Timeline timeline;
  traces::Observer* const observers[] = {&stalls, &overlap, &timeline};
  traces::replay_events(events, observers);
  const std::string to = o.to.empty() ? folder + "/report.html" : o.to;
  traces::write_file(to, traces::report_html({.record = record,
                                              .facts = run.facts,
                                              .path = path,
                                              .stalls = stalls,
                                              .overlap = overlap,
                                              .timeline = timeline}));
  std::cout << "wrote " << to << "\n";
  return 0;
}

}  // namespace daybreak::cli
