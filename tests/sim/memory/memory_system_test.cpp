// Crossbar, L2 and HBM together: latencies, sectors, replacement, write-back, limits, and under
// random traffic on random chips every burst answered exactly once, with delays that add up.
#include <gtest/gtest.h>

#include <cmath>
#include <list>
#include <map>
#include <set>

#include "configs/reader/errors.hpp"
#include "tests/sim/memory/memory_rig.hpp"

namespace daybreak::sim::test {
namespace {

int64_t rounded_up(int64_t bytes, int64_t rate) { return (bytes + rate - 1) / rate; }

// Links between a core and the slice of a line, counted on a map of the routers.
int64_t hops(const ChipConfig& c, int core, uint64_t line) {
  const int64_t slice = int64_t(line % uint64_t(c.l2.slices)), at = slice * c.cores / c.l2.slices;
  if (c.noc.topology == "crossbar") return 0;
  if (c.noc.topology == "ring") {
    const int64_t east = (at - core + c.cores) % c.cores;
    return std::min(east, c.cores - east);
  }
  int64_t side = c.noc.columns;
  if (side == 0) side = int64_t(std::ceil(std::sqrt(double(c.cores))));
  return std::abs(at % side - core % side) + std::abs(at / side - core / side);
}

// Cycles of a burst when nothing is in its way, controller and DRAM apart.
int64_t unloaded(const ChipConfig& c, const Burst& b, int core = 0) {
  const int64_t own =
      rounded_up(b.bytes, std::min(c.noc.bytes_per_cycle, c.l2.slice_bytes_per_cycle));
  const int64_t way =
      c.noc.latency + hops(c, core, b.address.value / uint64_t(c.l2.line)) * c.noc.hop_latency;
  return 2 * way + own + (b.write ? 0 : c.l2.hit_latency);
}

TEST(MemorySystemTest, UnloadedLatencies) {
  const ChipConfig c = quiet_chip();
  MemoryRig rig(c);
  const Completion miss = rig.one(4096, 64);
  const double period = double(c.period().value) * 1e-6;
  const double closed =
      double(unloaded(c, {Address(4096), 64}) + c.hbm.controller) * period + 31.25;
  EXPECT_FALSE(miss.l2_hit);
  EXPECT_NEAR(double(rig.cycles(miss)) * period, closed, closed * 0.03);
  EXPECT_GT(miss.delay[traces::Cause::l2_miss], 0);
  EXPECT_GT(miss.delay[traces::Cause::hbm_row], 0);
  const Completion hit = rig.one(4096, 64);
  EXPECT_TRUE(hit.l2_hit);
  EXPECT_EQ(rig.cycles(hit), 40 + 120 + 40 + 1);
  for (int64_t d : hit.delay.by) EXPECT_EQ(d, 0);
  const Completion write = rig.one(4096, 512, true);
  EXPECT_EQ(rig.cycles(write), 40 + 40 + 6);  // 512 B through a slice of 95 B a cycle
}

TEST(MemorySystemTest, OnlyTouchedSectorsAreFetched) {
  MemoryRig rig(quiet_chip());
  rig.one(512 * 7 + 60, 8);  // two sectors
  EXPECT_EQ(rig.memory.stats().l2.fetched_bytes, 128);
  EXPECT_EQ(rig.memory.stats().hbm.read_bytes, 128);
  EXPECT_TRUE(rig.one(512 * 7, 128).l2_hit);
  EXPECT_FALSE(rig.one(512 * 7, 512).l2_hit);  // the other six
  EXPECT_EQ(rig.memory.stats().l2.fetched_bytes, 512);
  EXPECT_TRUE(rig.one(512 * 7, 512).l2_hit);
  EXPECT_EQ(rig.memory.stats().l2.fetched_bytes, 512);
}

TEST(MemorySystemTest, FullSectorsAreWrittenWithoutFetch) {
  MemoryRig rig(quiet_chip());
  rig.one(1024, 256, true);
  EXPECT_EQ(rig.memory.stats().l2.fetched_bytes, 0);
  EXPECT_TRUE(rig.one(1024, 256).l2_hit);
  rig.one(2048 + 32, 64, true);  // halves of two sectors: both are fetched
  EXPECT_EQ(rig.memory.stats().l2.fetched_bytes, 128);
  EXPECT_TRUE(rig.one(2048, 128).l2_hit);
  EXPECT_EQ(rig.memory.stats().hbm.write_bytes, 0);
}

// Random accesses to few sets against a list per set.
TEST(MemorySystemTest, ReplacesTheLeastRecentlyUsedAndWritesDirtySectorsBack) {
  ChipConfig c = quiet_chip();
  c.l2.capacity_mb = 1;
  c.l2.ways = 4;
  c.l2.slices = 5;
  MemoryRig rig(c);
  const int64_t sets = c.l2.capacity_mb * 1024 * 1024 / (c.l2.line * c.l2.ways * c.l2.slices);
  std::map<uint64_t, std::list<uint64_t>> recent;      // set of a slice -> lines, latest first
  std::map<uint64_t, std::set<uint64_t>> held, dirty;  // line -> sectors
  int64_t written_back = 0, writebacks = 0;
  Dice dice{77};
  for (int i = 0; i < 3000; ++i) {
    const uint64_t way = uint64_t(dice(0, 6)), set = uint64_t(dice(0, 2));
    const uint64_t line = way * uint64_t(c.l2.slices * sets) + set;
    const bool write = dice(0, 2) == 0;
    const uint64_t first = uint64_t(dice(0, 7)), last = uint64_t(dice(int64_t(first), 7));
    auto& lines = recent[set];
    const bool present = held.count(line) > 0;
    bool hit = present;
    if (!write) {
      for (uint64_t s = first; s <= last; ++s) hit = hit && held[line].count(s);
    }
    lines.remove(line);
    lines.push_front(line);
    if (lines.size() > 4) {
      const uint64_t out = lines.back();
      lines.pop_back();
      writebacks += !dirty[out].empty();
      written_back += int64_t(dirty[out].size()) * 64;
      held.erase(out);
      dirty.erase(out);
    }
    for (uint64_t s = first; s <= last; ++s) {
      held[line].insert(s);
      if (write) dirty[line].insert(s);
    }
    const Completion got = rig.one(line * 512 + first * 64, uint32_t((last - first + 1) * 64),
                                   write, int(dice(0, 31)));
    ASSERT_EQ(got.l2_hit, hit) << i;
  }
  const MemoryStats stats = rig.memory.stats();
  EXPECT_EQ(stats.l2.writebacks, writebacks);
  EXPECT_EQ(stats.l2.written_back_bytes, written_back);
  EXPECT_EQ(stats.hbm.write_bytes, written_back);
  EXPECT_EQ(stats.hbm.read_bytes, stats.l2.fetched_bytes);
  EXPECT_GT(writebacks, 50);
  EXPECT_TRUE(rig.memory.idle());
}

TEST(MemorySystemTest, MissesOfOneLineShareItsFetch) {
  MemoryRig rig(quiet_chip());
  std::vector<Recorder> clients(32);
  rig.aligned();
  for (int core = 0; core < 32; ++core) {
    const Burst burst{Address(1 << 20), 512, false, uint64_t(core)};
    rig.memory.port(core).submit(std::span(&burst, 1), clients[core]);
  }
  World::run_all();
  for (const Recorder& client : clients) ASSERT_EQ(client.got.size(), 1u);
  const MemoryStats stats = rig.memory.stats();
  EXPECT_EQ(stats.l2.fetched_bytes, 512);
  EXPECT_EQ(stats.l2.misses, 32);
  EXPECT_EQ(stats.l2.merged, 31);
}

TEST(MemorySystemTest, WritePoliciesDecideWhatReachesHbm) {
  for (const bool through : {false, true}) {
    for (const bool allocate : {false, true}) {
      ChipConfig c = quiet_chip();
      c.l2.write = through ? "through" : "back";
      c.l2.write_allocate = allocate;
      MemoryRig rig(c);
      rig.one(512 * 7, 512, true);
      const int64_t written = rig.memory.stats().hbm.write_bytes;
      EXPECT_EQ(written, through || !allocate ? 512 : 0);
      EXPECT_EQ(rig.one(512 * 7, 512).l2_hit, allocate);
      rig.one(512 * 7, 512, true);  // now the line is there
      EXPECT_EQ(rig.memory.stats().hbm.write_bytes, written + (through ? 512 : 0));
    }
  }
}

ChipConfig random_chip(Dice& dice) {
  ChipConfig c;
  c.cores = dice.pick<int64_t>({1, 5, 24});
  c.clock_ghz = dice.pick({1.0, 1.65, 0.7});
  apply_hbm_preset(c.hbm, dice.pick({"hbm2_2000", "hbm2e_3200", "hbm3_6400", "hbm3e_h200"}));
  c.hbm.stacks = dice(1, 3);
  c.hbm.channels = dice.pick<int64_t>({1, 6, 12});
  c.hbm.queue = dice.pick<int64_t>({1, 16, 64});
  c.hbm.controller = dice.pick<int64_t>({0, 60});
  c.hbm.map = dice.pick({"fine64", "coarse256", "rowlinear"});
  c.hbm.page = dice.pick({"open", "closed"});
  c.hbm.refresh = dice.pick({"all-bank", "per-bank", "off"});
  c.l2.capacity_mb = 1;
  c.l2.ways = dice.pick<int64_t>({1, 2, 16});
  c.l2.slices = dice.pick<int64_t>({1, 7, 32});
  c.l2.line = dice.pick<int64_t>({128, 512, 2048});
  c.l2.sector = dice.pick<int64_t>({32, 64, 128});
  c.l2.hit_latency = dice.pick<int64_t>({0, 120});
  c.l2.slice_bytes_per_cycle = dice.pick<int64_t>({1, 33, 95, 500});
  c.noc.latency = dice.pick<int64_t>({0, 1, 40});
  c.noc.bytes_per_cycle = dice.pick<int64_t>({7, 128});
  c.noc.topology = dice.pick({"crossbar", "mesh", "ring"});
  c.noc.columns = dice.pick<int64_t>({0, 1, 3, 30});
  c.noc.hop_latency = dice.pick<int64_t>({1, 5});
  c.noc.link_bytes_per_cycle = dice.pick<int64_t>({3, 256});
  c.l2.same_line = dice.pick<int64_t>({0, 0, 9});
  c.l2.write = dice.pick({"back", "through"});
  c.l2.write_allocate = dice(0, 1) == 1;
  return c;
}

struct Trace {
  std::vector<std::tuple<uint64_t, int64_t, bool>> done;  // tag, time, hit
  MemoryStats stats;
};

// Random bursts from all cores; `look` reads statistics on the way.
Trace random_traffic(uint64_t seed, bool look) {
  Dice dice{seed};
  const ChipConfig c = random_chip(dice);
  MemoryRig rig(c);
  struct Sent {
    Burst burst;
    int64_t at;
    int core;
  };
  std::vector<Sent> sent;
  Recorder clients[2];
  const int64_t space = dice.pick<int64_t>({16 << 10, 4 << 20, int64_t{1} << 45});
  for (int round = 0; round < 15; ++round) {
    rig.aligned();
    const int64_t writes = dice.pick<int64_t>({0, 2, 10});
    for (int64_t n = dice(1, 60); n > 0; --n) {
      std::vector<Burst> batch;
      const int core = int(dice(0, c.cores - 1));
      for (int64_t k = dice(1, 4); k > 0; --k) {
        const int64_t offset = dice(0, c.l2.line - 1);
        const int64_t bytes = dice.pick<int64_t>({c.l2.line - offset, dice(1, c.l2.line - offset)});
        const int64_t line = dice(0, space / c.l2.line);
        const Burst burst{Address(uint64_t(line * c.l2.line + offset)), uint32_t(bytes),
                          dice(1, 10) <= writes, sent.size()};
        batch.push_back(burst);
        sent.push_back({burst, World::now(), core});
      }
      rig.memory.port(core).submit(batch, clients[dice(0, 1)]);
    }
    if (look) rig.memory.stats();
    World::run_for(dice.pick<int64_t>({0, 50'000'000, 3'000'000'000}));
  }
  World::run_all();

  Trace out{{}, rig.memory.stats()};
  std::vector<bool> seen(sent.size());
  for (const Recorder& client : clients) {
    int64_t last = 0;
    for (const Completion& d : client.got) {
      EXPECT_LT(d.tag, sent.size());
      EXPECT_FALSE(seen[d.tag]);
      seen[d.tag] = true;
      EXPECT_GE(d.at.value, last);
      last = d.at.value;
      const Sent& s = sent[d.tag];
      int64_t delay = 0;
      for (int64_t part : d.delay.by) {
        EXPECT_GE(part, 0);
        delay += part;
      }
      EXPECT_EQ(d.at.value - s.at - delay, unloaded(c, s.burst, s.core) * c.period().value)
          << d.tag;
      out.done.push_back({d.tag, d.at.value, d.l2_hit});
    }
  }
  EXPECT_EQ(out.done.size(), sent.size());
  EXPECT_TRUE(rig.memory.idle());
  if (c.l2.sector >= c.hbm.atom) {
    EXPECT_EQ(out.stats.hbm.read_bytes, out.stats.l2.fetched_bytes);
    EXPECT_GE(out.stats.hbm.write_bytes, out.stats.l2.written_back_bytes);
  }
  EXPECT_EQ(out.stats.l2.hits + out.stats.l2.misses, int64_t(sent.size()));
  return out;
}

class RandomTraffic : public testing::TestWithParam<int> {};

TEST_P(RandomTraffic, EveryBurstOnceAndDelaysAddUpAndRerunsAgree) {
  const Trace a = random_traffic(uint64_t(GetParam()), false);
  const Trace b = random_traffic(uint64_t(GetParam()), true);
  EXPECT_EQ(a.done, b.done);
  EXPECT_EQ(a.stats.hbm.row_hits, b.stats.hbm.row_hits);
  EXPECT_EQ(a.stats.hbm.activates, b.stats.hbm.activates);
}
INSTANTIATE_TEST_SUITE_P(, RandomTraffic, testing::Range(100, 160));

// A set whose every way waits for HBM lets further lines pass the L2 by.
TEST(MemorySystemTest, AFullyBoundSetIsPassedBy) {
  ChipConfig c = quiet_chip();
  c.l2.capacity_mb = 1;
  c.l2.ways = 1;
  MemoryRig rig(c);
  Recorder client;
  std::vector<Burst> batch;
  for (uint64_t i = 0; i < 20; ++i) batch.push_back({Address(i << 20), 512, i % 5 == 4, i});
  rig.memory.port(3).submit(batch, client);
  World::run_all();
  EXPECT_EQ(client.got.size(), 20u);
  EXPECT_GT(rig.memory.stats().l2.bypasses, 10);
  EXPECT_TRUE(rig.memory.idle());
}

// Reads far beyond the L2 come at HBM's rate, whole lines at most peak; Little's law holds.
TEST(MemorySystemTest, StreamsReachHbmBandwidth) {
  const ChipConfig c;
  MemoryRig rig(c);
  std::vector<std::unique_ptr<Loop>> loops;
  for (int core = 0; core < 32; ++core) {
    loops.push_back(std::make_unique<Loop>(
        rig.memory.port(core), 64 * 512,
        sequential(uint64_t(core) * ((16 << 20) + (148 << 10)), 1 << 29, 512)));
    loops.back()->start();
  }
  World::run_for(4'000'000'000);
  int64_t before = 0, after = 0, bursts = 0, latency = 0;
  for (auto& loop : loops)
    before += loop->bytes, bursts -= loop->bursts, latency -= loop->latency_fs;
  World::run_for(20'000'000'000);
  for (auto& loop : loops)
    after += loop->bytes, bursts += loop->bursts, latency += loop->latency_fs;
  const double share = double(after - before) / 20e-6 / c.hbm_bytes_per_second();
  EXPECT_GT(share, 0.93);
  EXPECT_LE(share, 1.0);
  const double in_flight = double(latency) / 20e9;
  EXPECT_NEAR(in_flight, 32 * 64, 32 * 64 * 0.03);
}

TEST(MemorySystemTest, RefusesWhatItCannotServe) {
  MemoryRig rig(quiet_chip());
  Recorder client;
  for (const Burst& bad : {Burst{Address(0), 0}, Burst{Address(500), 13}, Burst{Address(0), 513}}) {
    EXPECT_THROW(rig.memory.port(0).submit(std::span(&bad, 1), client), InvariantError);
  }
  EXPECT_THROW(rig.memory.port(32), InvariantError);
  EXPECT_THROW(rig.memory.port(-1), InvariantError);
}

TEST(MemorySystemTest, RefusesGeometryThatCannotBeBuilt) {
  auto build = [](auto change) {
    ChipConfig c;
    change(c);
    World world;
    MemorySystem memory(c);
  };
  EXPECT_THROW(build([](ChipConfig& c) { c.l2.sector = 96; }), UserError);
  EXPECT_THROW(build([](ChipConfig& c) { c.l2.line = 65536, c.l2.sector = 64; }), UserError);
  EXPECT_THROW(build([](ChipConfig& c) { c.l2.capacity_mb = 1, c.l2.ways = 1024; }), UserError);
  EXPECT_THROW(build([](ChipConfig& c) { c.hbm.row_bytes = 100; }), UserError);
  EXPECT_THROW(build([](ChipConfig& c) { c.hbm.refi = 100; }), UserError);
  EXPECT_THROW(build([](ChipConfig& c) { c.hbm.tck = 0.01; }), UserError);  // 125 clocks for an ACT
  EXPECT_NO_THROW(build([](ChipConfig&) {}));
}

}  // namespace
}  // namespace daybreak::sim::test
