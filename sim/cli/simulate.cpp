#include "sim/cli/simulate.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "sim/chip/schema.hpp"
#include "traces/analysis/stalls.hpp"
#include "traces/event/event_file.hpp"

namespace daybreak::cli {
namespace {

constexpr const char* kVersion = DAYBREAK_VERSION;

// The time tasks were at work, without launch, dispatch and acknowledge.
class ActiveTime : public traces::Observer {
 public:
  void task(const traces::TaskEvent& e) override {
    auto [it, fresh] = spans_.try_emplace(e.launch, e.started, e.ended);
    it->second = {std::min(it->second.first, e.started), std::max(it->second.second, e.ended)};
  }
  int64_t cycles(int64_t launch) const {
    const auto it = spans_.find(launch);
    return it == spans_.end() ? 0 : it->second.second - it->second.first;
  }

 private:
  std::map<int64_t, std::pair<int64_t, int64_t>> spans_;
};

double flops_of(const sim::ChipConfig& chip, bool fp8) {
  return chip.flops(fp8 && chip.core.matrix.fp8 ? Format::e4m3 : Format::bf16);
}

traces::RunFacts facts_of(const kernels::Plan& plan, const sim::ChipConfig& chip) {
  traces::RunFacts facts{.chip = chip.name,
                         .clock_hz = chip.clock_ghz * 1e9,
                         .hbm_bytes_per_second = chip.hbm_bytes_per_second(),
                         .flops = flops_of(chip, true)};
  for (const auto& step : plan.steps()) facts.kernels.push_back(step.name);
  sim::ChipConfig listed = chip;
  for (const auto& knob : sim::list_knobs(listed)) facts.knobs.emplace_back(knob.path, knob.text());
  return facts;
}

std::vector<std::unique_ptr<traces::Observer>> trace_writers(const kernels::Plan& plan,
                                                             const sim::ChipConfig& chip,
                                                             const CommonOptions& options,
                                                             const std::string& folder) {
  std::vector<std::unique_ptr<traces::Observer>> out;
  if (folder.empty()) return out;
  const auto level = traces::trace_level(options.trace);
  const int64_t cap = options.trace_cap_mb << 20;
  auto facts = facts_of(plan, chip);
  out.push_back(std::make_unique<traces::PerfettoWriter>(
      folder + "/trace.pftrace", traces::PerfettoOptions{.level = level,
                                                         .clock_hz = facts.clock_hz,
                                                         .chip = chip.name,
                                                         .kernels = facts.kernels,
                                                         .max_bytes = cap}));
  if (level == traces::TraceLevel::instruction)
    out.push_back(std::make_unique<traces::EventFileWriter>(
        folder + "/run.events",
        traces::EventFileOptions{.facts = std::move(facts), .max_bytes = cap}));
  return out;
}

}  // namespace

traces::VerdictRow row_of(const ref::Verdict& v) {
  traces::VerdictRow row{
      .name = v.name, .pass = v.pass, .metrics = {}, .tolerance = v.tolerance, .worst = {}};
  for (const auto& m : v.metrics) row.metrics.push_back({m.name, m.value});
  if (!v.pass) {
    row.worst = v.finding;
    if (v.worst >= 0)
      row.worst += " (element " + std::to_string(v.worst) + ": got " + std::to_string(v.got) +
                   ", want " + std::to_string(v.want) + ")";
  }
  return row;
}

Simulated simulate(kernels::Plan& plan, const sim::ChipConfig& chip, const CommonOptions& options,
                   const std::string& folder) {
  const bool steering = options.value_mode() == sim::Values::steering;
  plan.prepare(chip.capabilities(), steering);
  const auto launches = plan.launches();

  traces::StallAccount stalls;
  ActiveTime active;
  std::vector<traces::Observer*> observers{&stalls, &active};
  const auto writers = trace_writers(plan, chip, options, folder);
  for (const auto& w : writers) observers.push_back(w.get());

  Simulated out;
  sim::ChipOptions how{.values = options.value_mode(), .memory = nullptr};
  if (plan.workspace()) how.workspace = plan.workspace()->binding;
  sim::Chip machine(chip, plan.image(), plan.bindings(), plan, how);
  out.result = machine.run(launches, observers);

  const traces::Peaks peaks{.clock_hz = chip.clock_ghz * 1e9,
                            .hbm_bytes_per_second = chip.hbm_bytes_per_second(),
                            .flops = std::max(flops_of(chip, true), flops_of(chip, false))};
  for (size_t i = 0; i < plan.steps().size(); ++i) {
    const auto& step = plan.steps()[i];
    out.active_cycles.push_back(active.cycles(int64_t(i)));
    const auto& got = out.result.launches[i];
    const auto floor = plan.floor(i);
    const bool fp8 = floor.fp8_macs > floor.bf16_macs;
    out.kernels.push_back(
        traces::kernel_row(stalls.launch_account(int64_t(i)),
                           {.kernel = step.name,
                            .hbm_read_bytes = got.hbm_read_bytes,
                            .hbm_write_bytes = got.hbm_write_bytes,
                            .read_bytes = got.read_bytes,
                            .write_bytes = got.write_bytes,
                            .memory = {.row_hits = got.row_hits,
                                       .row_misses = got.row_misses,
                                       .row_conflicts = got.row_conflicts,
                                       .l2_hits = got.l2_hits,
                                       .l2_misses = got.l2_misses,
                                       .tlb_hits = got.tlb_hits,
                                       .tlb_misses = got.tlb_misses,
                                       .scale_hits = got.scale_hits,
                                       .scale_misses = got.scale_misses},
                            .useful_bytes = floor.bytes,
                            .useful_flop = 2.0 * double(floor.bf16_macs + floor.fp8_macs),
                            .matrix_flops = flops_of(chip, fp8)},
                           peaks));
  }
  int64_t first = 0, last = out.result.cycles;
  if (!out.result.launches.empty()) {
    first = out.result.launches.front().ready;
    last = 0;
    for (const auto& l : out.result.launches) last = std::max(last, l.ended);
  }
  out.totals = traces::totals(out.kernels, first, last, peaks);
  for (const auto& v : plan.check()) out.verdicts.push_back(row_of(v));
  return out;
}

traces::RunRecord record_head(const std::string& verb, const sim::ChipConfig& chip,
                              const CommonOptions& options) {
  traces::RunRecord record;
  record.version = kVersion;
  record.verb = verb;
  record.chip = chip.name;
  record.chip_hash = traces::content_hash(sim::dump_yaml(chip));
  record.clock_hz = chip.clock_ghz * 1e9;
  record.values = options.values;
  record.seeds.push_back({"inputs", options.seed});
  for (const auto& path : chip.assumed)
    record.assumed.push_back({path, "mx-dma's figure", "not stated by the chip's file"});
  return record;
}

void fill(traces::RunRecord& record, const Simulated& run) {
  record.kernels = run.kernels;
  record.totals = run.totals;
  record.workload.insert(record.workload.end(), run.facts.begin(), run.facts.end());
  record.verdicts.insert(record.verdicts.end(), run.verdicts.begin(), run.verdicts.end());
}

}  // namespace daybreak::cli
