// The controller of one HBM channel: queues, banks, buses, refresh. No SystemC here: its stack
// hands it requests and lets it run up to a time.
//
// A bank is looked at when something can be decided for it. With a row to open it books precharge
// and activate (hbm_rows.hpp) and comes back when the row can be read; with its row open it books
// all columns of one run (hbm_columns.hpp) and comes back when the last is out. Columns are booked
// when they can go, not ahead, so banks interleave as they would command by command. Which run is
// next: hbm_bank.hpp; which direction: write_drain.hpp; a row that was opened for a run is kept for
// it whatever the direction.
//
// Requests enter the queues in the order in which they arrive, atom by atom: the first one that finds
// no room keeps all others out, whatever their direction.
//
// Refresh falls due on a fixed grid and is applied when the bank (per-bank) or pseudo-channel
// (all-bank) is next looked at; an idle channel costs nothing. Its own commands do not compete for
// the row bus. Contents live in the memory image: a read does not look for its data in the write
// queue.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/memory/address_map.hpp"
#include "sim/memory/arrivals.hpp"
#include "sim/memory/dram.hpp"
#include "sim/memory/hbm_bank.hpp"
#include "sim/memory/hbm_columns.hpp"
#include "sim/memory/hbm_due.hpp"
#include "sim/memory/hbm_rows.hpp"
#include "sim/memory/write_drain.hpp"

namespace daybreak::sim {

// One command, for checks of the timing rules. `tick` is its first tick. A precharge that belongs
// to a refresh or a closed page is `automatic`: it takes no time of the row bus.
struct HbmCommand {
  enum class Kind : uint8_t { activate, precharge, read, write, refresh } kind;
  bool automatic = false;
  uint16_t channel = 0;
  uint32_t bank = 0, row = 0;
  int64_t tick = 0;
};

// What the channels of a stack share.
struct HbmShared {
  HbmTiming timing;
  HbmGeometry geometry;
  int64_t queue, starvation;
  double write_high, write_low;
  DramListener& listener;
  HbmStats stats;
  int64_t in_flight = 0, writes = 0;  // runs, and the writes among them
  std::vector<HbmCommand>* log = nullptr;

  HbmShared(const HbmConfig& c, DramListener& l)
      : timing(c),
        geometry(c),
        queue(c.queue),
        starvation(c.starvation),
        write_high(c.write_high),
        write_low(c.write_low),
        listener(l) {}
};

class HbmChannel {
 public:
  static constexpr int64_t kNever = DueBanks::kNever;

  HbmChannel(HbmShared&, uint16_t index);
  // Something arrives at tick `a.at`, not before the last run().
  void push(const Arrival& a) {
    ++s_.in_flight;
    s_.writes += a.write;
    if (!arrivals_.push(a)) return;
    find_arrival();
    next_ = std::min(next_, std::max(now_, arrival_));
  }
  // Decides everything that falls due up to `until`.
  void run(int64_t until);
  // Tick of the next decision.
  int64_t next() const { return next_; }

 private:
  void admit(int64_t now);
  int32_t new_run(const Arrival&, int64_t now);
  void find_arrival() {
    arrival_ = kNever;
    if (arrivals_.empty()) return;
    const Arrival& a = arrivals_.front();
    if (queued_[a.write] < s_.queue) arrival_ = a.at;
  }
  void turn(int64_t now) {
    if (drain_.turn(queued_[0], queued_[1])) turned(now);
  }
  void turned(int64_t now);
  void decide(uint32_t bank, int64_t now);
  HbmChoice choose(const HbmBank&) const;
  void open_row(uint32_t bank, const HbmRun&, int64_t now);
  void columns(uint32_t bank, const HbmChoice&, int64_t now);
  void book(uint32_t bank, const HbmChoice&, int64_t clock, int64_t atoms, int64_t now);
  bool alone(uint32_t bank) const;
  void finish(uint32_t bank, int32_t run, int64_t first, int64_t last);
  bool row_wanted(const HbmBank&) const;
  void refresh(uint32_t bank, int64_t now) {
    if (banks_[bank].refresh_due > now) return;
    if (t_.refresh == Refresh::per_bank) return refresh_bank(bank, now);
    refresh_all(banks_[bank].pc, now);
  }
  void refresh_bank(uint32_t bank, int64_t now);
  void refresh_all(int pc, int64_t now);
  void log(HbmCommand::Kind, uint32_t bank, int64_t row, int64_t tick,
           bool automatic = false) const;

  HbmShared& s_;
  const HbmTiming& t_;
  uint16_t index_;
  int64_t look_ahead_;  // ticks: what starts later is decided later
  int64_t next_ = kNever;
  int64_t now_ = 0;
  DueBanks due_;
  std::vector<uint8_t> wants_;  // by bank: its row is open and it waits for columns
  std::vector<HbmBank> banks_;
  std::vector<HbmRun> runs_;
  int32_t free_run_ = -1;
  Arrivals arrivals_;  // on the way, or behind a full queue
  // When the first of them enters the queue, perhaps in the past; kNever while there is no room.
  int64_t arrival_ = kNever;
  int64_t queued_[2] = {0, 0};  // atoms admitted
  WriteDrain drain_;
  RowCommands rows_;
  ColumnCommands columns_;
  std::vector<int64_t> turned_at_;  // by pseudo-channel: the last column before the latest turn
};

}  // namespace daybreak::sim
