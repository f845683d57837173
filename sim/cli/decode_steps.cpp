#include "sim/cli/decode_steps.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace daybreak::cli {
namespace {

// Steps of one kind: exact, or with a reused list.
struct Kind {
  std::optional<Simulated> last;
  int64_t steps = 0, cycles = 0;
  double recall = 0, mass = 0, exact_mass = 0;
  double lowest_recall = 1;

  double per_step(double sum) const { return steps > 0 ? sum / double(steps) : 0; }
  void add(Simulated run, const kernels::SelectionWorth& worth) {
    cycles += run.totals.cycles;
    recall += worth.recall;
    mass += worth.mass;
    exact_mass += worth.exact_mass;
    lowest_recall = std::min(lowest_recall, worth.recall);
    last = std::move(run);
    ++steps;
  }
};

void add_totals(traces::Totals& sum, const traces::Totals& one) {
  const auto weighted = [&](double traces::Totals::*share) {
    const double cycles = double(sum.cycles + one.cycles);
    return cycles > 0 ? (sum.*share * double(sum.cycles) + one.*share * double(one.cycles)) / cycles
                      : 0;
  };
  sum = {.launches = sum.launches + one.launches,
         .tasks = sum.tasks + one.tasks,
         .cycles = sum.cycles + one.cycles,
         .microseconds = sum.microseconds + one.microseconds,
         .hbm_bytes = sum.hbm_bytes + one.hbm_bytes,
         .hbm_floor_share = weighted(&traces::Totals::hbm_floor_share),
         .matrix_floor_share = weighted(&traces::Totals::matrix_floor_share),
         .useful_share = weighted(&traces::Totals::useful_share)};
}

// One row per name: the first failure, else the first.
void add_verdicts(std::vector<traces::VerdictRow>& all, std::vector<traces::VerdictRow> more,
                  int64_t step) {
  for (auto& row : more) {
    if (!row.pass) row.worst = fmt::format("step {}: {}", step, row.worst);
    const auto known =
        std::find_if(all.begin(), all.end(), [&](const auto& v) { return v.name == row.name; });
    if (known == all.end())
      all.push_back(std::move(row));
    else if (known->pass && !row.pass)
      *known = std::move(row);
  }
}

void append_rows(Simulated& to, Simulated from, const std::string& suffix) {
  for (auto& row : from.kernels) {
    row.kernel += suffix;
    to.kernels.push_back(std::move(row));
  }
  to.active_cycles.insert(to.active_cycles.end(), from.active_cycles.begin(),
                          from.active_cycles.end());
}

void describe(Simulated& out, const kernels::DecodeRun& run, const Kind& exact, const Kind& reused,
              double overlap, const sim::ChipConfig& chip) {
  const double us = 1e-3 / chip.clock_ghz;
  const double exact_us = exact.per_step(double(exact.cycles)) * us;
  const double reused_us = reused.per_step(double(reused.cycles)) * us;
  const auto steps = double(run.step());
  const auto mean = [&](double Kind::*sum) { return (exact.*sum + reused.*sum) / steps; };
  const double step_us = double(exact.cycles + reused.cycles) * us / steps;
  const double saved = exact_us > 0 ? 1 - step_us / exact_us : 0;
  const double held = mean(&Kind::mass) / mean(&Kind::exact_mass);
  out.metrics = {
      {"steps", steps},
      {"tokens_kept", double(run.tokens())},
      {"step_us", step_us},
      {"exact_us", exact_us},
      {"reused_us", reused_us},
      {"saved_percent", saved * 100},
      {"recall_percent", mean(&Kind::recall) * 100},
      {"lowest_recall_percent", std::min(exact.lowest_recall, reused.lowest_recall) * 100},
      {"mass_percent", mean(&Kind::mass) * 100},
      {"exact_mass_percent", mean(&Kind::exact_mass) * 100},
      {"held_mass_percent", held * 100},
      {"overlap_percent", overlap * 100}};
  out.facts = {
      {"steps", fmt::format("{} exact, {} with a reused list; {} tokens kept", exact.steps,
                            reused.steps, run.tokens())},
      {"time per step", fmt::format("{:.1f} us: exact {:.1f} us, reused {:.1f} us; {:.1f} % saved",
                                    step_us, exact_us, reused_us, saved * 100)},
      {"recall of the exact top-k",
       fmt::format("{:.1f} % (lowest {:.1f} %)", mean(&Kind::recall) * 100,
                   std::min(exact.lowest_recall, reused.lowest_recall) * 100)},
      {"attention mass",
       fmt::format("{:.1f} % captured, exact {:.1f} %: {:.1f} % of it (softmax of the exact index "
                   "scores at deviation 1)",
                   mean(&Kind::mass) * 100, mean(&Kind::exact_mass) * 100, held * 100)}};
  if (steps > 1)
    out.facts.push_back(
        {"exact selection kept from step to step", fmt::format("{:.1f} %", overlap * 100)});
  const auto& cache = run.cache();
  for (size_t c = 0; c < cache.caches(); ++c)
    out.facts.push_back(
        {cache.cache(c).shape().layout.name + " pages",
         fmt::format("{} used of {}", cache.cache(c).shape().pages - cache.cache(c).free_pages(),
                     cache.cache(c).shape().pages)});
}

}  // namespace

Simulated simulate_steps(const KernelCase& c, const sim::ChipConfig& chip,
                         const CommonOptions& options, const std::string& trace_folder) {
  kernels::DecodeRun run(c.workload, *c.decode, chip.capabilities());
  Simulated out;
  Kind exact, reused;
  double overlap = 0;
  while (run.next()) {
    const bool first = run.step() == 0;
    Simulated one = simulate(run.plan(), chip, options, first ? trace_folder : std::string());
    if (const auto verdict = run.check_reuse()) one.verdicts.push_back(row_of(*verdict));
    add_verdicts(out.verdicts, std::move(one.verdicts), run.step());
    add_totals(out.totals, one.totals);
    if (first) out.result = one.result;
    const bool selected = run.exact();
    run.finish();
    if (run.worth().overlap >= 0) overlap += run.worth().overlap;
    (selected ? exact : reused).add(std::move(one), run.worth());
  }
  if (run.step() > 1) overlap /= double(run.step() - 1);
  describe(out, run, exact, reused, overlap, chip);
  append_rows(out, std::move(*exact.last), reused.last ? " (exact)" : "");
  if (reused.last) append_rows(out, std::move(*reused.last), " (reused)");
  return out;
}

}  // namespace daybreak::cli
