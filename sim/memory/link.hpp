// A pipe that carries one thing after the other at a fixed rate: a core's NoC link in one
// direction, or a slice's data port. Time is kept in bytes of the pipe, so rates that do not divide
// a transfer cost no rounding between transfers.
#pragma once
#include <cstdint>

namespace daybreak::sim {

class Link {
 public:
  explicit Link(int64_t bytes_per_cycle) : rate_(bytes_per_cycle) {}
  // Books `bytes` that are ready at cycle `ready`; returns the cycle in which their first byte
  // goes.
  int64_t take(int64_t ready, int64_t bytes) {
    if (free_ <= ready * rate_) {
      free_ = ready * rate_ + bytes;
      return ready;
    }
    const int64_t start = free_;
    free_ += bytes;
    return (start + rate_ - 1) / rate_;
  }
  // Cycles that `bytes` keep it busy.
  int64_t busy(int64_t bytes) const { return (bytes + rate_ - 1) / rate_; }

 private:
  int64_t rate_;
  int64_t free_ = 0;
};

}  // namespace daybreak::sim
