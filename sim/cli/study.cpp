// study: a list of runs, a table over their metrics, verdicts computed from them (configs/reader/study).
#include <iostream>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "configs/reader/loader.hpp"
#include "configs/reader/study.hpp"
#include "configs/reader/words.hpp"
#include "kernels/runtime/model/model.hpp"
#include "sim/chip/config_load.hpp"
#include "sim/cli/dram_run.hpp"
#include "sim/cli/kernel_run.hpp"
#include "sim/cli/study_record.hpp"
#include "sim/cli/verbs.hpp"
#include "traces/report/table.hpp"

namespace daybreak::cli {
namespace {

using Metrics = std::map<std::string, double>;

void unit_metrics(const traces::KernelRow& row, const std::string& prefix, double us_per_cycle,
                  Metrics& m) {
  for (const auto& b : row.busy) {
    m[prefix + "us_" + b.unit] += b.share * double(row.cycles) * us_per_cycle;
  }
}

// What expressions may name: totals, "row_hit_percent", "tlb_hit_percent", "us_UNIT" (busy time, averaged
// over the cores that ran a kernel, summed over kernels), and per kernel "KERNEL_us", "KERNEL_active_us", "KERNEL_hbm_bytes", "KERNEL_us_UNIT", ...
Metrics metrics_of(const Simulated& run, const sim::ChipConfig& chip) {
  const double us = 1e-3 / chip.clock_ghz;
  Metrics m{{"cycles", double(run.totals.cycles)},
            {"us", run.totals.microseconds},
            {"launches", double(run.totals.launches)},
            {"tasks", double(run.totals.tasks)},
            {"hbm_bytes", double(run.totals.hbm_bytes)},
            {"useful_share", run.totals.useful_share * 100},
            {"cores", double(chip.cores)},
            {"clock_ghz", chip.clock_ghz},
            {"port_bytes_per_cycle", double(chip.core.dma.bytes_per_cycle)},
            {"launch_us", chip.scheduler.launch_us},
            {"useful_bytes", 0}};
  const auto share = [](double hits, double misses) {
    return hits + misses > 0 ? hits / (hits + misses) * 100 : 0;
  };
  m["row_hit_percent"] = share(double(run.result.row_hits), double(run.result.row_misses));
  double tlb_hits = 0, tlb_misses = 0;
  for (const auto& launch : run.result.launches) {
    tlb_hits += double(launch.tlb_hits);
    tlb_misses += double(launch.tlb_misses);
  }
  m["tlb_hit_percent"] = share(tlb_hits, tlb_misses);
  m["tlb_misses"] = tlb_misses;
  double active = 0;
  for (size_t i = 0; i < run.kernels.size(); ++i) {
    const auto& row = run.kernels[i];
    const double running = double(run.active_cycles[i]) * us;
    active += running;
    m["useful_bytes"] += double(row.useful_bytes);
    m[row.kernel + "_us"] = row.microseconds;
    m[row.kernel + "_cycles"] = double(row.cycles);
    m[row.kernel + "_active_us"] = running;
    m[row.kernel + "_hbm_bytes"] = double(row.hbm_read_bytes + row.hbm_write_bytes);
    m[row.kernel + "_useful_share"] = row.useful_share * 100;
    unit_metrics(row, row.kernel + "_", us, m);
    unit_metrics(row, "", us, m);
  }
  for (const auto& metric : run.metrics) m[metric.name] = metric.value;
  m["active_us"] = active;  // first task started to last one ended, summed over launches
  m["verdicts_failed"] = double(std::count_if(run.verdicts.begin(), run.verdicts.end(),
                                              [](const auto& v) { return !v.pass; }));
  return m;
}

Simulated simulate_run(const configs::StudyRun& r, const sim::ChipConfig& chip,
                       const CommonOptions& options) {
  Arguments arguments(r.at.text() + ": run " + r.name, r.args);
  if (!r.kernel.empty())
    return simulate_case(kernel_case(r.kernel, std::move(arguments), options), chip, options, {});
  const auto model = kernels::read_model(r.model);
  auto workload = kernels::workload_of(model, arguments.integer("batch", 1, 0, 1 << 24),
                                       arguments.integer("queries", 1, 1, 8),
                                       arguments.integer("context", 32768, 0, int64_t{1} << 30));
  workload.seed = options.seed;
  set_index(workload, options.index);
  const bool fused = arguments.word("selection", "fused", {"fused", "separate"}) == "fused";
  arguments.word("phase", "decode", {"decode"});
  arguments.finish();
  KernelCase c{.workload = workload, .parts = {}, .overhead = {}};
  c.parts.form = fused ? kernels::SelectionForm::fused : kernels::SelectionForm::separate;
  return simulate_case(c, chip, options, {});
}

// A chip that cannot be found or read is the study's error where the run names it.
sim::ChipConfig load_at(const configs::StudyRun& r, const std::vector<configs::Setting>& settings) {
  try {
    return sim::load_chip(r.chip, settings);
  } catch (const UserError& e) {
    throw UserError(r.at, std::string("run ") + r.name + ": " + e.what());
  }
}

}  // namespace

int study(const std::string& file, const CommonOptions& common) {
  const auto where = configs::locate(file, "studies", ".yaml");
  const auto study = configs::read_study(file);
  std::vector<Metrics> metrics;
  for (const auto& r : study.runs) {
    CommonOptions options = common;
    options.values = r.values;
    options.index = r.index;
    options.routing = r.routing;
    auto settings = r.set;
    for (const auto& text : common.set) settings.push_back(configs::command_line_setting(text));
    const auto chip = load_at(r, settings);
    if (r.kernel == "dram") {
      metrics.push_back(
          dram_points({r.at.text() + ": run " + r.name, r.args}, chip, options.seed)[0].metrics);
      continue;
    }
    metrics.push_back(metrics_of(simulate_run(r, chip, options), chip));
  }
  const configs::Study::Metric metric = [&](size_t run,
                                            const std::string& name) -> std::optional<double> {
    const auto found = metrics[run].find(name);
    if (found == metrics[run].end()) return std::nullopt;
    return found->second;
  };
  StudyRecord record{
      .title = study.title, .about = study.about, .columns = {}, .rows = {}, .verdicts = {}};
  for (const auto& text : common.set) record.title += ", " + text;
  for (const auto& c : study.columns) record.columns.push_back(c.title);
  for (size_t i = 0; i < study.runs.size(); ++i) {
    StudyRecord::Row row{.name = study.runs[i].name, .cells = {}, .metrics = {}};
    for (const auto& c : study.columns) {
      const auto values = c.value.evaluate(study.lookup(metric, i));
      row.cells.push_back(values.empty() ? "-" : fmt::format("{:.{}f}", values[0], c.digits));
    }
    row.metrics.assign(metrics[i].begin(), metrics[i].end());
    record.rows.push_back(std::move(row));
  }
  for (const auto& v : study.verdicts)
    record.verdicts.push_back({v.name, v.holds.text(), v.holds.holds(study.lookup(metric))});
  if (!common.out.empty()) write_study(record, common.out);
  std::cout << (common.json ? to_json(record) : to_text(record));
  return record.pass() ? 0 : 1;
}

}  // namespace daybreak::cli
