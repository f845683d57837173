// The internal boundary to memory: whoever moves bytes submits requests and is called back.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "isa/program/types.hpp"
#include "traces/event/event.hpp"

namespace daybreak::sim {

// A contiguous piece of at most one L2 line (a port may state a smaller or larger limit).
struct Burst {
  Address address;
  uint32_t bytes = 0;
  bool write = false;
  uint64_t tag = 0;        // the client's; comes back with the completion
  bool around_l2 = false;  // never held there: its bytes go to or come from memory
};

// Where a burst's time went beyond its own transfer, in femtoseconds, by cause. What remains of
// (at - submitted) is the unloaded latency of the path.
struct Delay {
  static constexpr std::array kCauses{traces::Cause::noc, traces::Cause::l2_miss,
                                      traces::Cause::hbm_row, traces::Cause::hbm_bandwidth,
                                      traces::Cause::refresh};
  std::array<int64_t, kCauses.size()> by{};
  int64_t operator[](traces::Cause cause) const {
    for (size_t i = 0; i < by.size(); ++i)
      if (kCauses[i] == cause) return by[i];
    return 0;
  }
};

struct Completion {
  uint64_t tag = 0;
  Femtoseconds at;  // simulated time: equals sc_time_stamp() of the call
  bool l2_hit = false;
  Delay delay;
};

class MemoryClient {
 public:
  virtual ~MemoryClient() = default;
  // Called once per burst, in the order they complete; several that end together come in one call.
  virtual void completed(std::span<const Completion>) = 0;
};

// Reads complete when the data has arrived, writes when they are ordered at their destination.
// Never blocks: the client limits what it has outstanding.
class MemoryPort {
 public:
  virtual ~MemoryPort() = default;
  virtual void submit(std::span<const Burst>, MemoryClient&) = 0;
};

}  // namespace daybreak::sim
