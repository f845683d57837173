// Laws of memory.md that the DRAM alone must obey: unloaded latency, peak, activate bounds,
// refresh, turnaround, address map.
#include <gtest/gtest.h>

#include "tests/sim/memory/rig.hpp"

namespace daybreak::sim::test {
namespace {

struct Named {
  const char* preset;
  double hit, closed, conflict;  // ns, memory.md section 2
};
constexpr Named kPresets[] = {
    {"hbm2_2000", 17, 32, 45}, {"hbm2e_3200", 16.25, 31.25, 45}, {"hbm3_6400", 14.4, 34.1, 50}};

class Presets : public testing::TestWithParam<Named> {};

double latency_ns(HbmPort& port, uint64_t address) {
  Recorder client;
  const Burst burst{.address = Address(address), .bytes = 32};
  const int64_t before = World::now();
  port.submit(std::span(&burst, 1), client);
  World::run_all();
  EXPECT_EQ(client.got.size(), 1u);
  return double(client.got.at(0).at.value - before) * 1e-6;
}

TEST_P(Presets, UnloadedLatency) {
  HbmConfig hbm = preset(GetParam().preset);
  hbm.refresh = "off";
  World world;
  HbmPort port("dram", hbm);
  World::run_for(0);
  const uint64_t other_row = uint64_t(hbm.channels * hbm.pseudo_channels * hbm.bank_groups *
                                      hbm.banks * hbm.stack_ids * hbm.row_bytes);
  ASSERT_EQ(port.hbm().map().decode(0).bank, port.hbm().map().decode(other_row).bank);
  ASSERT_NE(port.hbm().map().decode(0).row, port.hbm().map().decode(other_row).row);
  EXPECT_NEAR(latency_ns(port, 0), GetParam().closed, GetParam().closed * 0.1);
  World::run_for(200'000'000);
  EXPECT_NEAR(latency_ns(port, 32), GetParam().hit, GetParam().hit * 0.1);
  World::run_for(200'000'000);
  EXPECT_NEAR(latency_ns(port, other_row), GetParam().conflict, GetParam().conflict * 0.1);
  const HbmStats stats = port.hbm().stats();
  EXPECT_EQ(stats.row_misses, 1);
  EXPECT_EQ(stats.row_hits, 1);
  EXPECT_EQ(stats.row_conflicts, 1);
}

TEST_P(Presets, SequentialReachesPeakMinusRefresh) {
  for (const char* refresh : {"off", "all-bank", "per-bank"}) {
    HbmConfig hbm = preset(GetParam().preset);
    hbm.map = "fine64";
    hbm.refresh = refresh;
    const Rate rate = measure_hbm(hbm, sequential(0, 1 << 30), usual_window(hbm));
    const double lost = hbm.refresh == "all-bank" ? (hbm.rfc_ab + hbm.rp) / hbm.refi : 0.0;
    const double share = rate.bytes_per_second / peak(hbm);
    EXPECT_LE(share, 1.0 - (hbm.refresh == "all-bank" ? hbm.rfc_ab / hbm.refi : 0) + 0.005)
        << refresh;
    // Per-bank refresh stalls a stream only while it wants that bank.
    EXPECT_GE(share, 1.0 - lost - 0.1) << refresh;
  }
}

// Two atoms per activate: one per max(tRRD, tFAW / 4) and pseudo-channel, and what the row bus lets
// through, less refresh.
TEST_P(Presets, Random64IsBoundByActivates) {
  for (const char* refresh : {"off", "all-bank"}) {
    HbmConfig hbm = preset(GetParam().preset);
    hbm.map = "fine64";
    hbm.refresh = refresh;
    const double per_act =
        std::max({hbm.rrd_s, hbm.faw / 4,
                  double(hbm.pseudo_channels) * (hbm.act_command + hbm.pre_command)});
    double bound = double(hbm.channels * hbm.pseudo_channels) * 64 / (per_act * 1e-9);
    if (hbm.refresh == "all-bank") bound *= 1 - hbm.rfc_ab / hbm.refi;
    const Rate rate = measure_hbm(hbm, random_rows(1 << 30, 64, 1, 32), usual_window(hbm));
    EXPECT_LE(rate.bytes_per_second, bound * 1.01) << refresh;
    EXPECT_GE(rate.bytes_per_second, bound * 0.9) << refresh;
  }
}

TEST_P(Presets, RefreshesKeepTheirRate) {
  for (const char* refresh : {"all-bank", "per-bank"}) {
    HbmConfig hbm = preset(GetParam().preset);
    hbm.refresh = refresh;
    const double us = 39;
    const Rate rate = measure_hbm(hbm, random_rows(1 << 30, 64, 1, 32), usual_window(hbm), 4, us);
    const double pcs = double(hbm.channels * hbm.pseudo_channels);
    const double banks = double(hbm.bank_groups * hbm.banks * hbm.stack_ids);
    const double expected = pcs * us * 1000 / hbm.refi * (hbm.refresh == "per-bank" ? banks : 1);
    EXPECT_NEAR(double(rate.stats.refreshes), expected, expected * 0.05) << refresh;
    EXPECT_GT(rate.stats.refresh_stall.value, 0);
  }
}

// A 656-byte row under a fine interleave opens one DRAM row per 64 B, under a coarse one per 256 B.
TEST_P(Presets, CoarseMapServesRowsOfRecordsBetter) {
  double share[2];
  for (int coarse = 0; coarse < 2; ++coarse) {
    HbmConfig hbm = preset(GetParam().preset);
    hbm.map = coarse ? "coarse256" : "fine64";
    const Rate rate = measure_hbm(hbm, random_rows(1 << 30, 656, 1, 32), usual_window(hbm));
    share[coarse] = rate.bytes_per_second / peak(hbm);
  }
  EXPECT_GT(share[1], share[0] * 1.12);
}

TEST_P(Presets, TurnaroundCostsBandwidth) {
  HbmConfig hbm = preset(GetParam().preset);
  auto mixed = [](uint64_t half, bool write) {
    return [=, n = uint64_t{0}, reads = uint64_t{0}, writes = uint64_t{0}]() mutable {
      if (write && n++ % 3 == 2) {
        return Burst{.address = Address(half + (writes++ * 64) % half), .bytes = 64, .write = true};
      }
      return Burst{.address = Address((reads++ * 64) % half), .bytes = 64};
    };
  };
  const Rate pure = measure_hbm(hbm, mixed(1 << 29, false), usual_window(hbm));
  const Rate both = measure_hbm(hbm, mixed(1 << 29, true), usual_window(hbm));
  EXPECT_LT(both.bytes_per_second, pure.bytes_per_second * 0.98);
  EXPECT_GT(both.bytes_per_second, pure.bytes_per_second * 0.5);
  EXPECT_GT(both.stats.write_bytes, 0);
}

// Little: what is in flight is rate times latency.
TEST_P(Presets, LittlesLaw) {
  HbmConfig hbm = preset(GetParam().preset);
  for (int64_t window : {int64_t{64}, int64_t{64 * 40}, usual_window(hbm)}) {
    const Rate rate = measure_hbm(hbm, random_rows(1 << 28, 64, 5, 32), window);
    EXPECT_NEAR(rate.bytes_per_second * rate.latency_ns * 1e-9, double(window),
                double(window) * 0.02);
  }
}

INSTANTIATE_TEST_SUITE_P(, Presets, testing::ValuesIn(kPresets),
                         [](const auto& info) { return std::string(info.param.preset); });

TEST(HbmLaws, ClosedPageNeverConflicts) {
  HbmConfig hbm = preset("hbm2e_3200");
  hbm.page = "closed";
  const Rate rate = measure_hbm(hbm, random_rows(1 << 30, 64, 3, 32), 64);
  EXPECT_EQ(rate.stats.row_conflicts, 0);
  EXPECT_GT(rate.stats.row_misses, 100);
  // Two columns for every activate: no request finds another's row.
  EXPECT_NEAR(double(rate.stats.row_hits), double(rate.stats.row_misses), 64);
}

// One bank only: a run per row cycle.
TEST(HbmLaws, OneBankIsBoundByItsRowCycle) {
  HbmConfig hbm = preset("hbm2e_3200");
  hbm.refresh = "off";
  const uint64_t row = uint64_t(hbm.channels * hbm.pseudo_channels * hbm.bank_groups * hbm.banks) *
                       uint64_t(hbm.row_bytes);
  const Rate rate = measure_hbm(hbm, sequential(0, row << 12, 32), 32 * 16);
  auto strided = [row, n = uint64_t{0}]() mutable {
    return Burst{.address = Address(row * (n++ % 4096)), .bytes = 32};
  };
  const Rate bank = measure_hbm(hbm, strided, 32 * 16);
  EXPECT_NEAR(bank.bytes_per_second, 32 / (hbm.rc * 1e-9), 32 / (hbm.rc * 1e-9) * 0.02);
  EXPECT_GT(rate.bytes_per_second, bank.bytes_per_second * 4);
}

// Row hits may pass an older request of their bank only so often.
TEST(HbmLaws, StarvationIsBounded) {
  HbmConfig hbm = preset("hbm2e_3200");
  hbm.refresh = "off";
  World world;
  HbmPort port("dram", hbm);
  World::run_for(0);
  const uint64_t row = uint64_t(hbm.channels * hbm.pseudo_channels * hbm.bank_groups * hbm.banks) *
                       uint64_t(hbm.row_bytes);
  Loop hits(port, 32 * 64, [n = uint64_t{0}]() mutable {
    return Burst{.address = Address((n++ % 8) * 32), .bytes = 32};
  });
  hits.start();
  World::run_for(1'000'000'000);
  Recorder other;
  const Burst burst{.address = Address(row), .bytes = 32};
  const int64_t before = World::now();
  port.submit(std::span(&burst, 1), other);
  World::run_for(10'000'000'000);
  hits.stop();
  ASSERT_EQ(other.got.size(), 1u);
  EXPECT_LT(double(other.got[0].at.value - before) * 1e-6, 400.0);
}

}  // namespace
}  // namespace daybreak::sim::test
