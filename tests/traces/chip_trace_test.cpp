// A real run: the decode chain of a small workload on the chip, its trace read back and compared
// with what the simulator reported and counted.
#include "keeper.hpp"
#include "kernels/runtime/plan/workload.hpp"
#include "readback.hpp"
#include "sim/chip/chip.hpp"
#include "sim/chip/config_load.hpp"
#include "sim/cli/case.hpp"
#include "traces/analysis/stalls.hpp"
#include "traces/event/perfetto.hpp"

namespace daybreak::traces {
namespace {

using ChipTrace = Readback;

TEST_F(ChipTrace, EqualsTheSimulatorsOwnCounters) {
  const sim::ChipConfig chip = sim::load_chip("mx-dma");
  kernels::Workload workload;
  workload.context = 3000;
  cli::Case the_case(workload, chip.capabilities());
  const auto plan = the_case.plan({});
  plan->prepare(chip.capabilities(), false);
  const auto launches = plan->launches();

  std::vector<std::string> kernels;
  for (const auto& launch : launches) kernels.push_back(launch.kernel);
  const double clock_hz = chip.clock_ghz * 1e9;
  PerfettoWriter writer(folder_.file("t"),
                        {.clock_hz = clock_hz, .chip = chip.name, .kernels = kernels});
  Keeper keeper;
  StallAccount stalls;
  std::vector<Observer*> observers{&keeper, &writer, &stalls};
  sim::Chip machine(chip, plan->image(), plan->bindings(), *plan);
  const sim::RunResult result = machine.run(launches, observers);

  // What the events add up to is what the simulator counted.
  EXPECT_EQ(keeper.stream.cycles, result.cycles);
  ASSERT_EQ(stalls.launches().size(), result.launches.size());
  std::vector<sim::LaunchResult> sums(result.launches.size());
  for (const InstructionEvent& e : keeper.stream.instructions) {
    sim::LaunchResult& sum = sums[size_t(e.launch)];
    ++sum.instructions;
    sum.macs += e.macs;
    sum.read_bytes += e.read_bytes;
    sum.write_bytes += e.write_bytes;
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    const sim::LaunchResult& want = result.launches[i];
    const LaunchAccount launch = stalls.launch_account(int64_t(i));
    EXPECT_EQ(sums[i].instructions, want.instructions) << want.kernel;
    EXPECT_EQ(sums[i].macs, want.macs) << want.kernel;
    EXPECT_EQ(launch.tasks, want.tasks) << want.kernel;
    EXPECT_EQ(launch.kernel, want.kernel);
    EXPECT_EQ(launch.cycles(), want.ended - want.ready) << want.kernel;
    for (const KindAccount& kind : launch.kinds) EXPECT_LE(kind.busy_share(), 1) << kind.kind;
  }
  EXPECT_GT(writer.flows_written(), 0);
  EXPECT_EQ(writer.flows_written() + writer.flows_dropped(), int64_t(keeper.stream.flows.size()));
  // Few producers lie so far back that their arrow is lost.
  EXPECT_LE(writer.flows_dropped() * 20, int64_t(keeper.stream.flows.size()));
  expect_readback(folder_.file("t"), keeper.stream, chip.name, writer.flows_written(),
                  std::llround(clock_hz));
}

}  // namespace
}  // namespace daybreak::traces
