// Column commands of a channel: the column bus that its pseudo-channels share, the data bus of each
// (tCCD), and the gap that a turn from reads to writes or back needs. A run of columns of one bank
// is booked at once, tCCD_L apart; runs of other bank groups fill the gaps.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/memory/hbm_bank.hpp"
#include "sim/memory/hbm_timing.hpp"
#include "sim/memory/slot_ring.hpp"

namespace daybreak::sim {

class ColumnCommands {
 public:
  static constexpr int64_t kNone = -1;  // the buses are booked too far ahead

  ColumnCommands(const HbmTiming&, const HbmGeometry&, int64_t window);
  // Most columns of one booking.
  int64_t most() const { return most_; }
  // Whether a stack id's columns keep those of others off for longer than its own.
  bool sids_part() const { return sids_; }
  // Tick of the last column booked in a direction.
  int64_t last(int pc, bool write) const;
  void advance(int pc, int64_t clock);
  // Earliest tick of a read or write after what is booked of the other direction.
  int64_t turned(const HbmBank&, bool write) const;
  // First clock from `from` on for `atoms` columns.
  int64_t find(const HbmBank&, int64_t from, int64_t atoms) const;
  void book(const HbmBank&, bool write, int64_t clock, int64_t atoms);

 private:
  struct Pc {
    SlotRing any;                    // blocked for every bank
    std::vector<SlotRing> by_group;  // blocked for a bank group
    std::vector<SlotRing> by_sid;    // blocked for a stack id by the others
    std::vector<int64_t> last_write_group;
    int64_t last_read, last_write;  // ticks
    int64_t advanced = 0;           // clock up to which its rings are cleared
    Pc(int64_t clocks, const HbmGeometry&, bool sids);
  };
  const HbmTiming& t_;
  bool sids_;
  int64_t most_;
  // What n columns take of the column bus, of their pseudo-channel, of their bank group and of the
  // other stack ids.
  std::vector<uint64_t> bus_pattern_, pc_pattern_, sid_pattern_;
  SlotRing bus_;  // clocks
  std::vector<Pc> pcs_;
};

}  // namespace daybreak::sim
