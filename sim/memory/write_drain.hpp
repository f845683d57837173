// When a controller turns from reads to writes and back: writes gather until the high watermark or
// until no read waits, and drain to the low one.
#pragma once
#include <algorithm>
#include <cstdint>

namespace daybreak::sim {

class WriteDrain {
 public:
  // Of a write queue of `queue` atoms, the shares that start and end a drain.
  WriteDrain(int64_t queue, double high, double low)
      : high_(std::max<int64_t>(1, int64_t(double(queue) * high))),
        low_(std::min<int64_t>(high_ - 1, int64_t(double(queue) * low))) {}
  bool writing() const { return writing_; }
  // Looks at what waits; true when the direction changed.
  bool turn(int64_t reads, int64_t writes) {
    if (!writing_ && writes == 0) return false;
    const bool write = writing_ ? !(writes == 0 || (writes <= low_ && reads > 0))
                                : writes >= high_ || (reads == 0 && writes > 0);
    const bool turned = write != writing_;
    writing_ = write;
    return turned;
  }

 private:
  int64_t high_, low_;
  bool writing_ = false;
};

}  // namespace daybreak::sim
