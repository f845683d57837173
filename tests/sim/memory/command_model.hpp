// A second HBM model, slow and simple: it walks clock by clock, issues one column and one row
// command per clock and channel, and keeps every rule of memory.md section 1 as "earliest time"
// registers. It shares nothing with sim/memory but the description of the part.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/chip/config.hpp"
#include "sim/memory/port.hpp"

namespace daybreak::sim::test {

struct CommandModelResult {
  double bytes_per_second = 0;
  double latency_ns = 0;  // mean over objects
  double hit_share = 0;   // atoms whose row was open when they were first looked at
  double activates = 0;   // per second
};

// One stack under a closed loop: objects from `next` in order, `window` bytes in flight, unlimited
// FIFO before every controller; 4 us of warm-up, then `us` microseconds are measured.
CommandModelResult run_command_model(const HbmConfig&, const std::function<Burst()>& next,
                                     int64_t window, double us);

}  // namespace daybreak::sim::test
