// The controller of one HBM channel: queues, banks, buses, refresh. No SystemC here; its stack
// feeds it arrivals and the decision times it asked for, in time order.
//
// Every bank works through its own queue: it takes the oldest run (the atoms of one request in one
// row) that hits its open row, else the oldest, and books all of the run's commands at once: PRE
// and ACT on the row bus, the columns on column bus and data bus. Bookings fill gaps, so banks
// interleave as they would command by command; a bank decides again when its last column command is
// out. A run of one direction never passes a booked column of the other. Writes gather until the
// high watermark or until no read waits, and drain to the low one.
//
// Refresh falls due on a fixed grid and is applied when the bank (per-bank) or pseudo-channel
// (all-bank) is next looked at; an idle channel costs nothing. Its own commands do not compete for
// the row bus. Contents live in the memory image: a read does not look for its data in the write
// queue.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/memory/address_map.hpp"
#include "sim/memory/event_wheel.hpp"
#include "sim/memory/hbm_timing.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/memory/slot_ring.hpp"

namespace daybreak::sim {

// Why a run was late, in ticks (channel) or femtoseconds (listener).
struct RunDelay {
  int64_t row = 0, bandwidth = 0, refresh = 0;
};

// Who wants to know when a run's data are there. Called ahead of time, at most once per run.
class HbmListener {
 public:
  virtual ~HbmListener() = default;
  // `at` >= now, in femtoseconds: the end of the run's last data burst.
  virtual void served(uint64_t owner, int64_t at, const RunDelay&) = 0;
};

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
  struct Run {
    uint64_t owner = 0;
    int64_t arrived = 0, admitted = 0;  // ticks
    uint32_t bank = 0, row = 0, atoms = 0;
    uint16_t channel = 0;
    bool write = false, started = false;
    int32_t next = -1;
  };
  struct Event {
    int32_t run;  // an arrival, or -1: a decision
    uint16_t channel;
    uint32_t bank;
  };

  HbmTiming timing;
  HbmGeometry geometry;
  HbmConfig config;
  HbmListener& listener;
  HbmStats stats;
  EventWheel<Event> wheel;  // ticks
  std::vector<Run> runs;
  int32_t free_run = -1;
  int64_t in_flight = 0;
  std::vector<HbmCommand>* log = nullptr;

  HbmShared(const HbmConfig& c, HbmListener& l) : timing(c), geometry(c), config(c), listener(l) {}
  int32_t take_run();
  void release_run(int32_t);
};

class HbmChannel {
 public:
  HbmChannel(HbmShared&, uint16_t index);
  // A run reached the controller.
  void arrive(int32_t run, int64_t now);
  // A bank's decision falls due.
  void decide(uint32_t bank, int64_t now);

 private:
  struct List {
    int32_t head = -1, tail = -1;
    bool empty() const { return head < 0; }
  };
  struct Bank {
    int64_t act_ok = 0, pre_ok = 0, read_ok = 0, write_ok = 0;  // ticks
    int64_t ready = 0;  // last column booked: no decision before
    int64_t refresh_due = 0, refresh_begin = 0, refresh_end = 0;
    int64_t open = -1;                    // row, -1 when precharged
    List queue[2];                        // reads, writes
    int32_t passed = 0;                   // row hits taken before the oldest run
    uint16_t pc = 0, group = 0, sid = 0;  // group counts over stack ids
    bool scheduled = false;
  };
  struct Activate {
    int64_t tick;
    uint16_t group;
  };
  struct Pc {
    SlotRing columns;                 // blocked for every bank
    std::vector<SlotRing> by_group;   // blocked for a bank group
    std::vector<SlotRing> by_sid;     // blocked for a stack id by the others
    std::vector<Activate> activates;  // sorted, recent and booked
    int64_t last_read, last_write;    // columns
    std::vector<int64_t> last_write_group;
    int64_t refresh_due = 0;
    int64_t advanced = 0;  // clock up to which its rings are cleared
    Pc(int64_t clocks, const HbmGeometry&, bool sids);
  };
  struct Choice {
    int32_t run = -1, before = -1;
    bool hit = false;
  };

  void admit(int32_t run, int64_t now);
  void fill_queue(int kind, int64_t now);
  void schedule(uint32_t bank, int64_t at);
  void set_mode(int64_t now);
  void advance(Pc&, int64_t now);
  Choice choose(Bank&) const;
  void refresh(uint32_t bank, int64_t now);
  void refresh_bank(uint32_t bank, int64_t now);
  void refresh_all(int pc, int64_t now);
  // Precharge and activate; false when the row bus is booked too far ahead.
  bool open_row(uint32_t bank, uint32_t row, int64_t now);
  int64_t find_activate(const Pc&, uint16_t group, int64_t from) const;
  int64_t turnaround(const Pc&, const Bank&, bool write) const;
  // First clock for `atoms` columns, -1 when the buses are booked too far ahead.
  int64_t find_columns(const Pc&, const Bank&, int64_t from, int64_t atoms) const;
  void mark_columns(Pc&, const Bank&, int64_t clock, int64_t atoms);
  void book_columns(uint32_t bank, const Choice&, int64_t clock, int64_t atoms, int64_t now);
  void finish(uint32_t bank, int32_t run, int64_t first, int64_t last);
  bool row_wanted(const Bank&) const;
  void log(HbmCommand::Kind, uint32_t bank, int64_t row, int64_t tick,
           bool automatic = false) const;

  HbmShared& s_;
  const HbmTiming& t_;
  uint16_t index_;
  int64_t look_ahead_;  // ticks: what starts later is decided later
  int64_t most_atoms_;  // of one booking
  // What n columns take of the column bus, of their pseudo-channel, and of its other stack ids.
  std::vector<uint64_t> bus_pattern_, pc_pattern_, sid_pattern_;
  SlotRing row_bus_;     // ticks
  SlotRing column_bus_;  // clocks
  std::vector<Pc> pcs_;
  std::vector<Bank> banks_;
  List waiting_[2];             // behind a full queue, unbounded
  int64_t queued_[2] = {0, 0};  // atoms
  int64_t high_, low_;
  bool writing_ = false;
};

}  // namespace daybreak::sim
