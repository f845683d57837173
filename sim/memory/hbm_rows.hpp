// Row commands of a channel: precharges and activates on the row bus that its pseudo-channels
// share, activates under tRRD and tFAW of their pseudo-channel. Bookings fill gaps, because an
// activate behind a precharge is booked ahead of time.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "sim/memory/hbm_timing.hpp"
#include "sim/memory/slot_ring.hpp"

namespace daybreak::sim {

class RowCommands {
 public:
  static constexpr int64_t kNone = -1;  // the bus is booked too far ahead

  RowCommands(const HbmTiming&, const HbmGeometry&, int64_t window);
  void advance(int64_t now) { bus_.advance(now); }
  // Books the first free tick from `from` on.
  int64_t precharge(int64_t from);
  int64_t activate(int pc, uint16_t group, int64_t from);

 private:
  struct Activate {
    int64_t tick;
    uint16_t group;
  };
  // The latest activates of a pseudo-channel, sorted.
  struct Recent {
    static constexpr int kMost = 16;
    std::array<Activate, kMost> at;
    int count = 0;
  };
  int64_t find_free(int64_t from, int64_t count) const;
  int64_t allowed(const Recent&, uint16_t group, int64_t from) const;
  int64_t allowed_between(const Recent&, uint16_t group, int64_t from) const;

  const HbmTiming& t_;
  SlotRing bus_;  // ticks
  std::vector<Recent> recent_;
};

}  // namespace daybreak::sim
