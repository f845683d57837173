// Row commands of a channel: precharges and activates on the row bus that its pseudo-channels
// share, activates under tRRD and tFAW of their pseudo-channel. Bookings fill gaps, because an
// activate behind a precharge is booked ahead of time.
#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/memory/hbm_timing.hpp"
#include "sim/memory/slot_board.hpp"

namespace daybreak::sim {

class RowCommands {
 public:
  static constexpr int64_t kNone = -1;  // the bus is booked too far ahead

  // `window`: ticks that can be booked ahead.
  RowCommands(const HbmTiming&, const HbmGeometry&, int64_t window);
  void advance(int64_t now) { board_.advance(now); }
  // Books the first free tick from `from` on.
  int64_t precharge(int64_t from);
  int64_t activate(int pc, uint16_t group, int64_t from);

 private:
  static constexpr uint64_t kBus = 0;  // lane

  // The latest activates of a pseudo-channel, sorted: all that are booked ahead and four more.
  class Recent {
   public:
    explicit Recent(int64_t ahead);
    // Puts a tick in its place; returns how many are behind it.
    int64_t insert(int64_t tick);
    // The n-th last.
    int64_t last(int64_t n) const { return ticks_[(end_ - 1 - uint64_t(n)) & mask_]; }

   private:
    std::vector<int64_t> ticks_;
    uint64_t mask_, end_ = 0;
  };
  template <class... Lanes> int64_t find_free(int64_t from, int64_t count, Lanes... lanes) const {
    for (int64_t at = from; at + 64 < board_.limit() - margin_;) {
      uint64_t ok = ~board_.booked(at, kBus);
      for (int64_t i = 1; i < count; ++i) ok &= ok >> 1;
      // The shifts bring in zeros, so a hit lies wholly inside the 64 slots.
      if constexpr (sizeof...(lanes) > 0) ok &= ~board_.booked(at, lanes...);
      if (ok != 0) return at + std::countr_zero(ok);
      at += 64 - (count - 1);
    }
    return kNone;
  }
  void block(int pc, uint16_t group, int64_t at);

  const HbmTiming& t_;
  bool groups_;           // whether a bank group keeps more distance than others
  int64_t margin_;        // ticks that an activate blocks behind itself
  uint64_t lanes_of_pc_;  // what blocks activates: for all banks, then by group
  SlotBoard board_;       // ticks
  std::vector<Recent> recent_;
};

}  // namespace daybreak::sim
