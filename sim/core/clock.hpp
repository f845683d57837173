// Cycles of the core clock on SystemC's femtosecond time base. Cores act on cycle boundaries only;
// memory answers at any femtosecond and is seen at the next boundary.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <systemc>

#include "isa/program/types.hpp"

namespace daybreak::sim {

using Cycle = int64_t;
inline constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

class CoreClock {
 public:
  explicit CoreClock(Femtoseconds period) : period_(uint64_t(period.value)) {}
  // The boundary at or after the present time.
  Cycle now() const { return Cycle((sc_core::sc_time_stamp().value() + period_ - 1) / period_); }
  sc_core::sc_time time_of(Cycle c) const {
    return sc_core::sc_time::from_value(uint64_t(c) * period_);
  }
  // Rounded up to whole cycles (design.md section 5).
  Cycle cycles_of_us(double us) const { return ceil_div(std::llround(us * 1e9), int64_t(period_)); }

 private:
  uint64_t period_;
};

// The one pending event of a module.
class Wakeup {
 public:
  // Ensures a wake at `c` or earlier. A boundary that has passed means now.
  void at(Cycle c, const CoreClock& clock) {
    if (c >= next_) return;
    next_ = c;
    const sc_core::sc_time when = clock.time_of(c), now = sc_core::sc_time_stamp();
    event_.notify(when > now ? when - now : sc_core::SC_ZERO_TIME);
  }
  void fired() { next_ = kNever; }
  const sc_core::sc_event& event() const { return event_; }

 private:
  sc_core::sc_event event_;
  Cycle next_ = kNever;
};

}  // namespace daybreak::sim
