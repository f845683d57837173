// Every command of random traffic on random stacks, checked against the timing rules of memory.md
// section 1, written down here a second time; and every request answered once.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "configs/reader/errors.hpp"
#include "tests/sim/memory/rig.hpp"

namespace daybreak::sim::test {
namespace {

using Kind = HbmCommand::Kind;

HbmConfig random_config(Dice& dice) {
  HbmConfig h = preset(dice.pick({"hbm2_2000", "hbm2e_3200", "hbm3_6400", "hbm3e_h200"}));
  h.stacks = dice(1, 3);
  h.channels = dice.pick<int64_t>({1, 2, 3, 5, 12});
  h.pseudo_channels = dice(1, 3);
  h.bank_groups = dice(1, 4);
  h.banks = dice(1, 4);
  h.stack_ids = dice(1, 3);
  h.rows = dice.pick<int64_t>({1, 7, 100, 24576});
  h.row_bytes = dice.pick<int64_t>({64, 192, 1024, 4096});
  h.map = dice.pick({"fine64", "coarse256", "rowlinear"});
  h.bank_hash = dice(0, 1) == 1;
  h.page = dice.pick({"open", "closed"});
  h.refresh = dice.pick({"all-bank", "per-bank", "off"});
  h.queue = dice.pick<int64_t>({1, 8, 64, 200});
  h.starvation = dice.pick<int64_t>({0, 4, 16});
  if (dice(0, 3) == 0) {  // timings of no known part
    for (double HbmConfig::*t :
         {&HbmConfig::cl, &HbmConfig::cwl, &HbmConfig::rcd_rd, &HbmConfig::rcd_wr, &HbmConfig::rp,
          &HbmConfig::ras, &HbmConfig::ccd_s, &HbmConfig::ccd_l, &HbmConfig::ccd_r,
          &HbmConfig::rrd_s, &HbmConfig::rrd_l, &HbmConfig::faw, &HbmConfig::wr, &HbmConfig::rtp,
          &HbmConfig::wtr_s, &HbmConfig::wtr_l, &HbmConfig::rtw}) {
      h.*t = double(dice(0, 6000)) / 100;
    }
    h.rc = h.ras + h.rp;
    h.burst = dice(1, 8);
  }
  return h;
}

// Replays one channel's commands in time order.
class Checker {
 public:
  explicit Checker(const HbmConfig& h)
      : h_(h),
        halves_(half(h.act_command) % 2 || half(h.pre_command) % 2 || half(h.ref_command) % 2) {}

  void check(std::vector<HbmCommand> commands) {
    std::stable_sort(commands.begin(), commands.end(),
                     [](const HbmCommand& a, const HbmCommand& b) { return a.tick < b.tick; });
    for (const HbmCommand& c : commands) {
      one(c);
      if (testing::Test::HasFailure()) return;
    }
  }
  int64_t columns = 0, refreshes = 0;

 private:
  static constexpr int64_t kNever = INT64_MIN / 4;
  struct Bank {
    int64_t row = -1, act = kNever, pre = kNever, read = kNever, write = kNever, refresh = kNever;
  };
  int64_t half(double ns) const { return int64_t(std::ceil(ns / (h_.tck / 2) - 1e-6)); }
  // Ticks of a time in ns.
  int64_t t(double ns) const { return int64_t(std::ceil(ns / h_.tck - 1e-6)) * (halves_ ? 2 : 1); }
  int64_t clock() const { return halves_ ? 2 : 1; }
  int64_t bus(double ns) const { return halves_ ? half(ns) : half(ns) / 2; }
  int64_t burst() const { return h_.burst * clock(); }
  int64_t per_pc() const { return h_.bank_groups * h_.banks * h_.stack_ids; }
  int64_t pc_of(int64_t bank) const { return bank / per_pc(); }
  int64_t group_of(int64_t bank) const { return bank / h_.banks; }  // over pcs and stack ids
  int64_t sid_of(int64_t bank) const { return bank / (h_.banks * h_.bank_groups); }

  void take_row_bus(const HbmCommand& c, int64_t length) {
    if (c.automatic) return;
    EXPECT_GE(c.tick, row_bus_) << "row bus";
    row_bus_ = c.tick + length;
  }

  void one(const HbmCommand& c) {
    Bank& b = banks_[c.bank];
    const int64_t pc = pc_of(c.bank);
    switch (c.kind) {
      case Kind::activate:
        take_row_bus(c, bus(h_.act_command));
        EXPECT_EQ(b.row, -1) << "activate of an open bank";
        EXPECT_GE(c.tick, b.pre + t(h_.rp)) << "tRP";
        EXPECT_GE(c.tick, b.act + t(h_.rc)) << "tRC";
        EXPECT_GE(c.tick, b.refresh + t(h_.refresh == "per-bank" ? h_.rfc_pb : h_.rfc_ab))
            << "tRFC";
        activated(c, pc);
        b.row = c.row;
        b.act = c.tick;
        break;
      case Kind::precharge:
        take_row_bus(c, bus(h_.pre_command));
        EXPECT_EQ(b.row, c.row);
        EXPECT_GE(c.tick, b.act + t(h_.ras)) << "tRAS";
        EXPECT_GE(c.tick, b.read + t(h_.rtp)) << "tRTP";
        EXPECT_GE(c.tick, b.write + t(h_.cwl) + burst() + t(h_.wr)) << "tWR";
        b.row = -1;
        b.pre = c.tick;
        break;
      case Kind::refresh:
        ++refreshes;
        for (int64_t i = c.bank; i < c.bank + (h_.refresh == "all-bank" ? per_pc() : 1); ++i) {
          EXPECT_EQ(banks_[i].row, -1) << "refresh of an open bank";
          EXPECT_GE(c.tick, banks_[i].pre + t(h_.rp)) << "tRP before refresh";
          banks_[i].refresh = c.tick;
        }
        break;
      case Kind::read:
      case Kind::write: column(c, b, pc); break;
    }
  }

  void activated(const HbmCommand& c, int64_t pc) {
    auto& all = activates_[pc];
    for (const auto& [tick, bank] : all) {
      const bool same = group_of(bank) == group_of(c.bank);
      EXPECT_GE(c.tick - tick, same ? std::max(t(h_.rrd_s), t(h_.rrd_l)) : t(h_.rrd_s)) << "tRRD";
    }
    if (all.size() >= 4) { EXPECT_GE(c.tick - all[all.size() - 4].first, t(h_.faw)) << "tFAW"; }
    all.push_back({c.tick, c.bank});
    if (all.size() > 8) all.erase(all.begin());
  }

  void column(const HbmCommand& c, Bank& b, int64_t pc) {
    ++columns;
    const bool write = c.kind == Kind::write;
    EXPECT_EQ(b.row, c.row) << "column of a row that is not open";
    EXPECT_GE(c.tick, b.act + t(write ? h_.rcd_wr : h_.rcd_rd)) << "tRCD";
    EXPECT_GE(c.tick, column_bus_) << "column bus";
    column_bus_ = c.tick + clock();
    for (const HbmCommand& o : recent_[pc]) {
      const int64_t gap = c.tick - o.tick;
      const bool before_write = o.kind == Kind::write;
      if (before_write && !write) {
        const double wtr =
            group_of(o.bank) == group_of(c.bank) ? std::max(h_.wtr_s, h_.wtr_l) : h_.wtr_s;
        EXPECT_GE(gap, t(h_.cwl) + burst() + t(wtr)) << "tWTR";
      }
      if (!before_write && write) { EXPECT_GE(gap, t(h_.rtw)) << "tRTW"; }
      if (before_write != write) continue;
      EXPECT_GE(gap, std::max(t(h_.ccd_s), burst())) << "tCCD_S";
      if (group_of(o.bank) == group_of(c.bank)) { EXPECT_GE(gap, t(h_.ccd_l)) << "tCCD_L"; }
      if (sid_of(o.bank) != sid_of(c.bank)) { EXPECT_GE(gap, t(h_.ccd_r)) << "tCCD_R"; }
    }
    recent_[pc].push_back(c);
    if (recent_[pc].size() > 64) recent_[pc].erase(recent_[pc].begin());
    (write ? b.write : b.read) = c.tick;
  }

  HbmConfig h_;
  bool halves_;
  std::map<int64_t, Bank> banks_;
  std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> activates_;
  std::map<int64_t, std::vector<HbmCommand>> recent_;
  int64_t row_bus_ = kNever, column_bus_ = kNever;
};

class Commands : public testing::TestWithParam<int> {};

TEST_P(Commands, ObeyEveryTimingRule) {
  Dice dice{uint64_t(GetParam())};
  const HbmConfig h = random_config(dice);
  World world;
  HbmPort port("dram", h);
  std::vector<std::vector<HbmCommand>> logs(h.stacks);
  for (int s = 0; s < int(h.stacks); ++s) port.hbm().stack(s).log_commands(&logs[s]);
  World::run_for(0);

  // Bursts of traffic with pauses that span refreshes.
  Recorder client;
  std::vector<int64_t> submitted;
  int64_t atoms = 0;
  const int64_t span = dice.pick<int64_t>({4096, 1 << 20, int64_t{1} << 40});
  for (int round = 0; round < 12; ++round) {
    const int64_t writes = dice.pick<int64_t>({0, 3, 7, 10});
    std::vector<Burst> batch;
    for (int64_t i = dice(1, 200); i > 0; --i) {
      const uint64_t at = uint64_t(dice(0, span));
      const uint32_t bytes = uint32_t(dice(1, 900));
      batch.push_back({Address(at), bytes, dice(1, 10) <= writes, submitted.size()});
      atoms += int64_t((at + bytes - 1) / uint64_t(h.atom) - at / uint64_t(h.atom)) + 1;
      submitted.push_back(World::now());
    }
    port.submit(batch, client);
    World::run_for(dice(0, round % 4 == 3 ? 9'000'000'000 : 400'000'000));
  }
  World::run_all();

  ASSERT_EQ(client.got.size(), submitted.size());
  std::vector<bool> seen(submitted.size());
  for (const Completion& c : client.got) {
    ASSERT_FALSE(seen[c.tag]);
    seen[c.tag] = true;
    int64_t waits = 0;
    for (int64_t d : c.delay.by) {
      ASSERT_GE(d, 0);
      waits += d;
    }
    EXPECT_GE(c.at.value - submitted[c.tag] - waits, int64_t(std::min(h.cl, h.cwl) * 1e6));
  }
  EXPECT_TRUE(port.idle());
  EXPECT_TRUE(port.hbm().idle());
  int64_t columns = 0, refreshes = 0;
  for (const auto& log : logs) {
    for (int64_t channel = 0; channel < h.channels; ++channel) {
      std::vector<HbmCommand> mine;
      std::copy_if(log.begin(), log.end(), std::back_inserter(mine),
                   [&](const HbmCommand& c) { return c.channel == channel; });
      Checker checker(h);
      checker.check(mine);
      ASSERT_FALSE(HasFailure()) << "map " << h.map << " page " << h.page << " refresh "
                                 << h.refresh;
      columns += checker.columns;
      refreshes += checker.refreshes;
    }
  }
  EXPECT_EQ(columns, atoms);
  EXPECT_EQ((port.hbm().stats().read_bytes + port.hbm().stats().write_bytes) / h.atom, atoms);
  if (h.refresh == "off") {
    EXPECT_EQ(refreshes, 0);
  } else {
    EXPECT_GT(port.hbm().stats().refreshes, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(, Commands, testing::Range(0, 60));

// The map is a bijection of atoms within one wrap, pieces cover a request exactly, and neighbouring
// chunks go to different stacks and channels.
TEST(AddressMapTest, IsABijectionAndSplitsExactly) {
  // The last lists: columns in three parts, and banks below the channels.
  for (int form = 0; form < 10; ++form) {
    const char* map = std::array{"fine64", "coarse256", "rowlinear",
                                 "column:1 stack channel pc column:2 group sid bank column row",
                                 "column:2 bank stack channel group pc sid column row"}[form % 5];
    HbmConfig h = preset("hbm2e_3200", 3);
    h.map = map;
    h.bank_hash = form >= 5;
    h.channels = 5, h.pseudo_channels = 2, h.bank_groups = 3, h.banks = 2, h.stack_ids = 2,
    h.rows = 3;
    const AddressMap m(h);
    const int64_t atoms = h.stacks * h.channels * h.pseudo_channels * h.bank_groups * h.banks *
                          h.stack_ids * h.rows * h.row_bytes / h.atom;
    auto key = [&](const RowPiece& p, uint32_t column) {
      return ((((uint64_t(p.stack) * 5 + p.channel) * 64 + p.bank) * 8 + p.row) * 64) + column;
    };
    std::vector<uint64_t> all;
    for (int64_t a = 0; a < atoms; ++a) {
      const RowPiece p = m.decode(uint64_t(a * h.atom));
      ASSERT_LT(p.stack, h.stacks);
      ASSERT_LT(p.channel, h.channels);
      ASSERT_LT(p.row, h.rows);
      ASSERT_LT(p.bank, h.pseudo_channels * h.bank_groups * h.banks * h.stack_ids);
      ASSERT_LT(p.column, h.row_bytes / h.atom);
      all.push_back(key(p, p.column));
    }
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << map;

    Dice dice{11};
    for (int i = 0; i < 500; ++i) {
      const uint64_t at = uint64_t(dice(0, atoms * h.atom)), bytes = uint64_t(dice(1, 5000));
      std::vector<uint64_t> whole, pieces;
      for (uint64_t a = at / 32; a <= (at + bytes - 1) / 32; ++a) {
        const RowPiece p = m.decode(a * 32);
        whole.push_back(key(p, p.column));
      }
      m.split(at, bytes, [&](const RowPiece& p) {
        for (uint32_t c = 0; c < p.atoms; ++c) pieces.push_back(key(p, p.column + c));
      });
      std::sort(whole.begin(), whole.end());
      std::sort(pieces.begin(), pieces.end());
      ASSERT_EQ(whole, pieces) << map;
    }
    const uint64_t chunk = uint64_t(m.chunk_bytes());
    std::vector<uint64_t> units;
    for (uint64_t i = 0; i < 15; ++i) {
      const RowPiece p = m.decode(i * chunk);
      units.push_back(p.stack * 5 + p.channel);
    }
    if (form % 5 == 4) continue;  // neighbouring chunks share a channel there
    std::sort(units.begin(), units.end());
    EXPECT_EQ(std::adjacent_find(units.begin(), units.end()), units.end()) << map;
  }
}

TEST(AddressMapTest, AListSaysWhatANameSays) {
  HbmConfig named = preset("hbm2e_3200", 4), listed = named;
  const std::pair<const char*, const char*> forms[] = {
      {"fine64", "column:1 channel stack pc group column bank sid row"},
      {"coarse256", "column:3 channel stack pc group column bank sid row"},
      {"rowlinear", "channel stack column pc sid group bank row"}};
  Dice dice{3};
  for (const auto& [name, list] : forms) {
    named.map = name;
    listed.map = list;
    for (int i = 0; i < 1000; ++i) {
      const uint64_t at = uint64_t(dice(0, int64_t{1} << 40));
      const RowPiece a = AddressMap(named).decode(at), b = AddressMap(listed).decode(at);
      ASSERT_EQ(std::tie(a.stack, a.channel, a.bank, a.row, a.column),
                std::tie(b.stack, b.channel, b.bank, b.row, b.column))
          << name << " " << at;
    }
  }
}

TEST(AddressMapTest, RefusesListsThatAreNoMap) {
  for (const char* list : {"", "column", "column:1 channel stack pc group column bank sid",
                           "colum channel", "column channel stack pc group bank sid row row",
                           "column:0 column channel stack pc group "
                           "bank sid row",
                           "column:99 column channel stack pc group bank sid row",
                           "column: column channel stack pc group bank sid row"}) {
    EXPECT_THROW(check_address_map(list, {}), UserError) << list;
  }
  HbmConfig h = preset("hbm2e_3200");
  h.map = "column:6 channel stack pc group column bank sid row";  // a row has 32 atoms
  EXPECT_THROW(AddressMap{h}, UserError);
}

// memory.md section 2 spelled out for a stack of powers of two.
TEST(AddressMapTest, PutsTheBitsWhereMemoryMdSays) {
  HbmConfig h = preset("hbm2e_3200");
  for (uint64_t address : {uint64_t{0x123456789A0}, uint64_t{0xFEDCBA98}, uint64_t{0x7F00FF00FF}}) {
    const uint64_t a = address >> 5;
    auto field = [&](int from, int bits) { return uint32_t(a >> from & ((1u << bits) - 1)); };
    h.map = "fine64";
    RowPiece p = AddressMap(h).decode(address);
    EXPECT_EQ(p.channel, field(1, 3));
    EXPECT_EQ(p.bank, field(4, 1) * 16 + field(5, 2) * 4 + field(11, 2));
    EXPECT_EQ(p.column, field(7, 4) * 2 + field(0, 1));
    EXPECT_EQ(p.row, field(13, 16));
    h.map = "coarse256";
    p = AddressMap(h).decode(address);
    EXPECT_EQ(p.channel, field(3, 3));
    EXPECT_EQ(p.bank, field(6, 1) * 16 + field(7, 2) * 4 + field(11, 2));
    EXPECT_EQ(p.column, field(9, 2) * 8 + field(0, 3));
    h.map = "rowlinear";
    p = AddressMap(h).decode(address);
    EXPECT_EQ(p.channel, field(0, 3));
    EXPECT_EQ(p.column, field(3, 5));
    EXPECT_EQ(p.bank, field(8, 1) * 16 + field(9, 2) * 4 + field(11, 2));
  }
}

}  // namespace
}  // namespace daybreak::sim::test
