// The load-latency curve and the patterns of memory.md section 2 through run_traffic.
#include <gtest/gtest.h>

#include <set>

#include "configs/reader/errors.hpp"
#include "sim/memory/traffic.hpp"
#include "tests/sim/memory/rig.hpp"

namespace daybreak::sim::test {
namespace {

TrafficResult run(const HbmConfig& h, const std::string& pattern, const TrafficPlan& plan) {
  std::vector<std::unique_ptr<TrafficSource>> sources;
  const uint64_t pcs = uint64_t(h.stacks * h.channels * h.pseudo_channels);
  sources.push_back(make_pattern(pattern, pcs << 26, 1));
  return run_traffic(h, std::move(sources), plan, 1);
}

// Latency rises with load; below the knee what arrives is served, above it the buses are full.
TEST(Traffic, LoadLatencyCurveRisesToAKnee) {
  for (const char* name : {"hbm2e_3200", "hbm3_6400"}) {
    HbmConfig h = preset(name);
    h.channels = 2;
    const double most =
        run(h, "rand64", {.window_atoms = usual_window(h) / h.atom, .measured_us = 30}).peak_share;
    double mean = 0, p99 = 0;
    for (double load : {0.1, 0.3, 0.5, 0.7, 0.95}) {
      const TrafficResult r = run(h, "rand64", {.load = load, .warm_us = 2, .measured_us = 30});
      EXPECT_GE(r.mean_ns, mean) << name << load;
      EXPECT_GE(r.p99_ns, p99 * 0.99) << name << load;
      EXPECT_LE(r.p50_ns, r.p95_ns);
      EXPECT_LE(r.p95_ns, r.p99_ns);
      if (load < most - 0.05) { EXPECT_NEAR(r.peak_share, load, load * 0.06) << name; }
      if (load > most + 0.05) { EXPECT_NEAR(r.peak_share, most, 0.05) << name; }
      mean = r.mean_ns;
      p99 = r.p99_ns;
    }
    EXPECT_GT(mean, 500) << name;
  }
}

// Objects in flight = rate x latency, and the window is what is in flight.
TEST(Traffic, LittlesLawHoldsInAClosedLoop) {
  const HbmConfig h = preset("hbm2e_3200");
  for (const char* pattern : {"seq", "rand64", "randmix", "row128"}) {
    const TrafficPlan plan{.window_atoms = 1024, .measured_us = 30};
    const TrafficResult r = run(h, pattern, plan);
    const double atoms = pattern == std::string("row128") ? 4 : 2;
    EXPECT_NEAR(r.in_flight, double(plan.window_atoms) / atoms,
                double(plan.window_atoms) / atoms * 0.03)
        << pattern;
  }
}

TEST(Traffic, GathersVisitEachTableOnceAndSortedTablesHitMoreRows) {
  auto source = make_gather(5000, 2048, true, 3);
  std::set<uint64_t> seen;
  uint64_t last = 0;
  for (int i = 0; i < 2048; ++i) {
    const Burst b = source->next();
    EXPECT_EQ(b.bytes, 656u);
    EXPECT_EQ(b.address.value % 656, 0u);
    EXPECT_LT(b.address.value, 5000u * 656);
    if (i > 0) { EXPECT_GT(b.address.value, last); }
    last = b.address.value;
    seen.insert(b.address.value);
  }
  EXPECT_EQ(seen.size(), 2048u);
  EXPECT_LT(source->next().address.value, last);  // the next table

  double hits[2];
  for (bool sorted : {false, true}) {
    std::vector<std::unique_ptr<TrafficSource>> sources;
    for (uint64_t core = 0; core < 8; ++core)
      sources.push_back(make_gather(8192, 2048, sorted, core));
    const TrafficResult r = run_traffic(preset("hbm2e_3200"), std::move(sources),
                                        {.window_atoms = 4096, .objects = 8 * 2048}, 1);
    EXPECT_EQ(r.objects, 8 * 2048);
    hits[sorted] = r.row_hit_share;
  }
  EXPECT_GT(hits[1], hits[0]);
}

// Of the columns of a piece of 256 bytes, all but the first find the row open; a random 64-byte read
// has two columns.
TEST(Traffic, RowHitsAreCountedByColumn) {
  HbmConfig hbm = preset("hbm2e_3200");
  hbm.channels = 2;
  const auto share = [&](const char* pattern) {
    std::vector<std::unique_ptr<TrafficSource>> sources;
    sources.push_back(make_pattern(pattern, uint64_t{4} << 26, 1));
    return run_traffic(hbm, std::move(sources), {.window_atoms = 512}, 1).row_hit_share;
  };
  EXPECT_GT(share("seq"), 0.95);
  EXPECT_NEAR(share("row656"), 0.85, 0.03);
  EXPECT_NEAR(share("rand64"), 0.5, 0.02);
}

TEST(Traffic, RefusesOtherPatterns) {
  for (const char* word : {"", "row", "row0", "row-5", "row12x", "rand65", "row99999999999"})
    EXPECT_THROW(make_pattern(word, 1 << 20, 1), UserError) << word;
  EXPECT_NO_THROW(make_pattern("row777", 1 << 20, 1));
}

}  // namespace
}  // namespace daybreak::sim::test
