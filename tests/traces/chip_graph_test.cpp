// The graph of real runs: it explains every cycle, contradicts nothing, and what it predicts for
// free steps stays below what the run took.
#include <gtest/gtest.h>

#include "sim/chip/config_load.hpp"
#include "sim/cli/case.hpp"
#include "sim/cli/simulate.hpp"
#include "temporary_folder.hpp"
#include "traces/analysis/critical_path.hpp"
#include "traces/analysis/stalls.hpp"

namespace daybreak::traces {
namespace {

struct ChipRun {
  const char* chip;
  int64_t context, batch;
  kernels::SelectionForm form;
  std::vector<std::string> set = {};
};

class ChipGraph : public testing::TestWithParam<ChipRun> {};

TEST_P(ChipGraph, ExplainsTheRun) {
  const ChipRun& r = GetParam();
  const TemporaryFolder folder;
  cli::CommonOptions options{.chip = r.chip, .set = r.set, .values = "steering"};
  const auto chip = options.load_chip();
  kernels::Workload workload;
  workload.context = r.context;
  workload.batch = r.batch;
  cli::Case the_case(workload, chip.capabilities());
  const auto plan = the_case.plan({.form = r.form});
  const auto simulated = cli::simulate(*plan, chip, options, folder.path());

  const RunGraph run = read_run_graph(folder.file("run.events"));
  EXPECT_EQ(run.graph.contradictions(), 0u);
  EXPECT_EQ(run.graph.cycles(), simulated.result.cycles);
  EXPECT_EQ(cycles_without(run, {}), simulated.result.cycles);
  const CriticalPath path = critical_path(run);
  int64_t sum = 0, unexplained = 0;
  for (const auto& row : path.steps) {
    sum += row.cycles;
    EXPECT_GE(row.gain, 0) << row.name;
    EXPECT_LE(row.gain, path.cycles) << row.name;
    if (row.name == name_of(Step::other)) unexplained = row.cycles;
  }
  EXPECT_EQ(sum, path.cycles);
  EXPECT_LE(unexplained * 50, path.cycles) << "more than 2 % of the path is nobody's work";

  // A replay accounts for the same stalls as the run itself.
  StallAccount stalls;
  Observer* const observers[] = {&stalls};
  replay_events(folder.file("run.events"), observers);
  for (const auto& u : stalls.units())
    EXPECT_EQ(total(stalls.unit_cycles(u.id)), run.cycles) << u.path;
  for (const auto& row : simulated.kernels) {
    const LaunchAccount again = stalls.launch_account(row.launch);
    ASSERT_EQ(again.kinds.size(), row.stalls.size());
    for (size_t i = 0; i < again.kinds.size(); ++i)
      EXPECT_EQ(again.kinds[i].ran, row.stalls[i].cycles)
          << row.kernel << " " << row.stalls[i].unit;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Runs, ChipGraph,
    testing::Values(
        ChipRun{"mx-dma", 4096, 1, kernels::SelectionForm::separate},
        ChipRun{"mx-dma", 2500, 3, kernels::SelectionForm::fused},
        ChipRun{"mx-dma", 3000, 40, kernels::SelectionForm::fused},
        ChipRun{"mx-dma", 4096, 2, kernels::SelectionForm::separate, {"chip.scheduler.threads=3"}},
        ChipRun{"mx-dma",
                3000,
                1,
                kernels::SelectionForm::separate,
                {"chip.core.control.queue_depth=2", "chip.core.dma.outstanding=3"}},
        ChipRun{"davinci-like-2", 4096, 1, kernels::SelectionForm::separate},
        ChipRun{"davinci-like-2", 2500, 1, kernels::SelectionForm::fused}));

}  // namespace
}  // namespace daybreak::traces
