#include "sim/cli/prefill_time.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace daybreak::cli {
namespace {

struct Anchor {
  double number = 0, cycles = 0;
};

// Mean of the later half of windows [first, end): the start of a group follows windows of another.
Anchor anchor(const std::vector<kernels::Prefill::Placed>& windows,
              const std::vector<double>& cycles, size_t first, size_t end) {
  first += (end - first) / 2;
  Anchor sum;
  for (size_t i = first; i < end; ++i) {
    sum.number += double(windows[i].number);
    sum.cycles += cycles[i];
  }
  const auto count = double(end - first);
  return {sum.number / count, sum.cycles / count};
}

// Time in which a launch of each stream was under way; the launches of a stream follow each other.
int64_t both(const std::vector<std::pair<int64_t, int64_t>>& a,
             const std::vector<std::pair<int64_t, int64_t>>& b) {
  int64_t sum = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    sum +=
        std::max<int64_t>(std::min(a[i].second, b[j].second) - std::max(a[i].first, b[j].first), 0);
    (a[i].second < b[j].second ? i : j)++;
  }
  return sum;
}

}  // namespace

PrefillTime prefill_time(const kernels::Prefill& prefill, const kernels::Plan& plan,
                         const sim::RunResult& result) {
  const auto windows = prefill.placed();
  PrefillTime out;
  if (windows.empty()) return out;
  std::vector<double> cycles;
  int64_t before = result.launches.front().ready;
  for (const auto& w : windows) {
    int64_t ended = before;
    for (size_t s = w.first_step; s < w.end_step; ++s)
      ended = std::max(ended, result.launches[s].ended);
    cycles.push_back(double(ended - before));
    out.run_cycles += cycles.back();
    before = ended;
  }
  out.cycles = out.run_cycles;
  std::vector<size_t> starts{0};
  for (size_t i = 1; i < windows.size(); ++i)
    if (windows[i].number != windows[i - 1].number + 1) starts.push_back(i);
  starts.push_back(windows.size());
  for (size_t g = 0; g + 2 < starts.size(); ++g) {
    const Anchor a = anchor(windows, cycles, starts[g], starts[g + 1]);
    const Anchor b = anchor(windows, cycles, starts[g + 1], starts[g + 2]);
    const double slope = (b.cycles - a.cycles) / (b.number - a.number);
    for (int64_t n = windows[starts[g + 1] - 1].number + 1; n < windows[starts[g + 1]].number; ++n)
      out.cycles += a.cycles + slope * (double(n) - a.number);
  }

  // Attention is what waits for its window's table, on the other stream.
  std::vector<std::pair<int64_t, int64_t>> selection, attention;
  int64_t selecting = 0;
  for (const auto& w : windows) {
    bool attends = false;
    for (size_t i = w.first_step; i < w.end_step; ++i) {
      const auto& step = plan.steps()[i];
      const auto& launch = result.launches[i];
      if (step.stream == 1) {
        selection.emplace_back(launch.started, launch.ended);
        selecting += launch.ended - launch.started;
      } else if (attends = attends || !step.after.empty(); attends) {
        attention.emplace_back(launch.started, launch.ended);
      }
    }
  }
  if (selecting > 0) out.overlap_share = double(both(selection, attention)) / double(selecting);
  return out;
}

void describe(Simulated& out, const kernels::Prefill& prefill, const kernels::Plan& plan,
              const sim::ChipConfig& chip, const CommonOptions& options, int64_t sequences) {
  const auto time = prefill_time(prefill, plan, out.result);
  const double us = 1e-3 / chip.clock_ghz;
  const auto run = int64_t(prefill.placed().size());
  out.metrics = {{"windows", double(prefill.windows())},
                 {"windows_run", double(run)},
                 {"prefill_us", time.cycles * us},
                 {"overlap_percent", time.overlap_share * 100},
                 {"intermediate_bytes", double(prefill.intermediate_bytes())},
                 {"score_bytes", double(prefill.score_bytes())}};
  out.facts = {{"windows", std::to_string(prefill.windows())},
               {"intermediate bytes", std::to_string(prefill.intermediate_bytes())},
               {"bytes of all index scores", std::to_string(prefill.score_bytes())},
               {"prefill takes", fmt::format("{:.1f} us", time.cycles * us)}};
  if (run < prefill.windows())
    out.facts.push_back({"windows run", fmt::format("{} in {:.1f} us; the rest extrapolated", run,
                                                    time.run_cycles * us)});
  if (time.overlap_share > 0)
    out.facts.push_back({"selection beside attention",
                         fmt::format("{:.1f} % of its time", time.overlap_share * 100)});
  if (options.value_mode() == sim::Values::full)
    for (int64_t s = 0; s < sequences; ++s)
      out.facts.push_back(
          {fmt::format("digest of sequence {}", s), fmt::format("{:08x}", prefill.digest(s))});
}

}  // namespace daybreak::cli
