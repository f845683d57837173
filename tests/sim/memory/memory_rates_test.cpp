// Rates that bind when the L2 holds everything: links, slices, hops of a network, one line.
#include <memory>

#include "tests/sim/memory/memory_rig.hpp"

namespace daybreak::sim::test {
namespace {

// Bytes per cycle of loops that read lines the L2 holds.
double hit_rate_of(const ChipConfig& c, int cores, std::function<uint64_t(int, uint64_t)> line_of,
                   uint64_t lines, bool write = false) {
  MemoryRig rig(c);
  for (int core = 0; core < cores; ++core) {
    for (uint64_t i = 0; i < lines; ++i) rig.one(line_of(core, i) * 512, 512, true);
  }
  std::vector<std::unique_ptr<Loop>> loops;
  rig.aligned();
  for (int core = 0; core < cores; ++core) {
    loops.push_back(
        std::make_unique<Loop>(rig.memory.port(core), 512 * 128, [=, i = uint64_t{0}]() mutable {
          return Burst{Address(line_of(core, i++ % lines) * 512), 512, write};
        }));
    loops.back()->start();
  }
  const int64_t period = c.period().value;
  World::run_for(20000 * period);
  int64_t before = 0, after = 0;
  for (auto& loop : loops) before += loop->bytes;
  World::run_for(4000 * period);
  for (auto& loop : loops) after += loop->bytes;
  for (auto& loop : loops) loop->stop();
  World::run_all();
  const NocStats core = rig.memory.stats().cores[0];
  EXPECT_GE(core.busy_in, core.read_bytes / c.noc.bytes_per_cycle);
  return double(after - before) / 4000;
}

TEST(MemoryRates, LinkAndSliceRatesBind) {
  const ChipConfig c = quiet_chip();
  auto spread = [](int core, uint64_t i) { return uint64_t(core) * 64 + i; };
  EXPECT_NEAR(hit_rate_of(c, 1, spread, 64), 128, 2);
  EXPECT_NEAR(hit_rate_of(c, 1, spread, 64, true), 128, 2);
  // 32 links give 4096 B/cycle, 32 slices 3040.
  EXPECT_NEAR(hit_rate_of(c, 32, spread, 64), 3040, 150);
  auto one_slice = [&](int core, uint64_t i) { return (uint64_t(core) * 8 + i) * 32; };
  EXPECT_NEAR(hit_rate_of(c, 8, one_slice, 8), 95, 1);
}

// A link of a ring that all must pass binds; the same loads on a crossbar do not meet.
TEST(MemoryRates, ALinkOfARingBinds) {
  ChipConfig c = quiet_chip();
  c.cores = 8;
  c.l2.slices = 8;
  c.noc.topology = "ring";
  c.noc.link_bytes_per_cycle = 64;
  // Every core reads from the slice of the core opposite: four hops, two ways, each link shared by
  // four readers on the way back.
  auto opposite = [](int core, uint64_t i) { return i * 8 + uint64_t(core + 4) % 8; };
  EXPECT_NEAR(hit_rate_of(c, 8, opposite, 16), 8 * 64 / 4, 4);
  auto own_slice = [](int core, uint64_t i) { return i * 8 + uint64_t(core); };
  EXPECT_NEAR(hit_rate_of(c, 8, own_slice, 16), 8 * 95, 12);
  c.noc.topology = "crossbar";
  EXPECT_NEAR(hit_rate_of(c, 8, opposite, 16), 8 * 95, 12);
}

TEST(MemoryRates, AccessesToOneLineKeepTheirDistance) {
  ChipConfig c = quiet_chip();
  c.l2.same_line = 40;
  auto one_line = [](int, uint64_t) { return uint64_t{9}; };
  EXPECT_NEAR(hit_rate_of(c, 4, one_line, 8), 512.0 / 40, 0.2);
  auto own_lines = [](int core, uint64_t i) { return uint64_t(core) * 64 + i; };
  EXPECT_NEAR(hit_rate_of(c, 1, own_lines, 64), 128, 2);  // other lines pass
}

}  // namespace
}  // namespace daybreak::sim::test
