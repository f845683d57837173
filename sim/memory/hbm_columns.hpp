// Column commands of a channel: the column bus that its pseudo-channels share, the data bus of each
// (tCCD), and the gap that a turn from reads to writes or back needs. A run of columns of one bank
// is booked at once, tCCD_L apart; runs of other bank groups fill the gaps.
#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/memory/hbm_bank.hpp"
#include "sim/memory/hbm_timing.hpp"
#include "sim/memory/slot_board.hpp"

namespace daybreak::sim {

class ColumnCommands {
 public:
  static constexpr int64_t kNone = -1;  // the buses are booked too far ahead

  ColumnCommands(const HbmTiming&, const HbmGeometry&, int64_t window);
  // Most columns of one booking.
  int64_t most() const { return most_; }
  // Whether a stack id's columns keep those of others off for longer than its own.
  bool sids_part() const { return sids_ > 0; }
  // Tick of the last column booked in a direction.
  int64_t last(int pc, bool write) const {
    return write ? pcs_[size_t(pc)].last_write : pcs_[size_t(pc)].last_read;
  }
  void advance(int64_t clock) { board_.advance(clock); }
  // Earliest tick of a read or write after what is booked of the other direction.
  int64_t turned(const HbmBank& bank, bool write) const {
    const Pc& pc = pcs_[bank.pc];
    if (write) return pc.last_read + t_.rtw;
    const int64_t data = t_.cwl + t_.burst;
    return std::max(pc.last_write + data + t_.wtr_s,
                    pc.last_write_group[bank.group] + data + t_.wtr_l);
  }
  // First clock from `from` on, which is now or later, for `atoms` columns.
  int64_t find(const HbmBank& bank, int64_t from, int64_t atoms) {
    const uint64_t all = bank.pc * lanes_of_pc_, group = all + 1 + bank.group;
    int64_t& free = free_[group];
    if (sids_ == 0) return find_free(from, free, atoms, all, group);
    return find_free(from, free, atoms, all, group, all + first_sid_ + bank.sid);
  }
  void book(const HbmBank& bank, bool write, int64_t clock, int64_t atoms);

 private:
  struct Pc {
    std::vector<int64_t> last_write_group;
    int64_t last_read, last_write;  // ticks
  };
  template <class... Lanes>
  int64_t find_free(int64_t from, int64_t& free, int64_t atoms, Lanes... lanes) const {
    const int64_t limit = board_.limit() - 192 - 2 * t_.ccd_l;
    bool full = true;
    for (int64_t at = std::max(from, free); at < limit; at += 64) {
      const SlotBoard::Bits busy = board_.booked_twice(at, lanes...);
      uint64_t low = ~busy.low, high = ~busy.high;
      if (full) free = at + std::countr_zero(low);
      full = full && low == 0;
      // Slots that `n` columns may start in give those for 2 n; the last step overlaps. All columns
      // lie within 64 slots: most_ sees to it.
      int64_t n = 1;
      for (; 2 * n <= atoms; n *= 2) narrow(low, high, n * t_.ccd_l);
      if (n < atoms) narrow(low, high, (atoms - n) * t_.ccd_l);
      if (low != 0) return at + std::countr_zero(low);
    }
    return kNone;
  }
  // Of the slots that may start something, those behind which `by` later another may start.
  static void narrow(uint64_t& low, uint64_t& high, int64_t by) {
    low &= low >> by | high << (64 - by);
    high &= high >> by;
  }

  const HbmTiming& t_;
  int64_t sids_;  // stack ids where they keep each other off, else 0
  int64_t most_;
  // Lanes of a pseudo-channel: what is taken for all banks (the bus among it), by bank group and, for
  // a stack id, by the others.
  uint64_t first_sid_, lanes_of_pc_;
  // What n columns take of the column bus, of their pseudo-channel and of the other stack ids.
  struct Taken {
    uint64_t bus, pc, sid;
  };
  std::vector<Taken> taken_;
  SlotBoard board_;            // clocks
  std::vector<int64_t> free_;  // by lane of a bank group: no column fits before
  std::vector<Pc> pcs_;
};

}  // namespace daybreak::sim
