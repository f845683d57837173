// A module's one pending SystemC event: the earliest time asked for wins.
#pragma once
#include <cstdint>
#include <limits>
#include <systemc>

#include "isa/program/types.hpp"

namespace daybreak::sim {

// SystemC time as femtoseconds; the resolution is 1 fs.
inline int64_t now_fs() { return int64_t(sc_core::sc_time_stamp().value()); }

class Wake {
 public:
  const sc_core::sc_event& event() const { return event_; }

  // Wakes the module at `at` fs (now, if that has passed) unless it wakes earlier anyway.
  void at(int64_t at) {
    if (at >= pending_) return;
    const int64_t now = now_fs();
    if (at < now) at = now;
    if (at >= pending_) return;
    pending_ = at;
    if (at == now) {
      event_.notify(sc_core::SC_ZERO_TIME);
    } else {
      event_.notify(sc_core::sc_time::from_value(uint64_t(at - now)));
    }
  }
  // Called first when the module runs.
  void taken() { pending_ = std::numeric_limits<int64_t>::max(); }

 private:
  sc_core::sc_event event_;
  int64_t pending_ = std::numeric_limits<int64_t>::max();
};

}  // namespace daybreak::sim
