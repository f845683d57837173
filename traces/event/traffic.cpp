#include "traces/event/traffic.hpp"

#include <algorithm>

namespace daybreak::traces {

Traffic::Traffic(int64_t window_cycles, size_t max_windows)
    : window_(window_cycles), max_windows_(max_windows) {}

void Traffic::make_room(int64_t cycle) {
  while (size_t(cycle / window_) >= max_windows_) {
    for (size_t i = 0; i < bytes_.size(); ++i) {
      const int64_t moved = bytes_[i];
      bytes_[i] = 0;
      bytes_[i / 2] += moved;
    }
    bytes_.resize((bytes_.size() + 1) / 2);
    window_ *= 2;
  }
  if (size_t(cycle / window_) >= bytes_.size()) bytes_.resize(size_t(cycle / window_) + 1);
}

void Traffic::add(int64_t begin, int64_t end, int64_t bytes) {
  if (bytes == 0) return;
  make_room(std::max(begin, end - 1));
  if (end <= begin) {
    bytes_[size_t(begin / window_)] += bytes;
    return;
  }
  // Shares are differences of one rounded running sum, so that they add up to `bytes`.
  const auto before = [&](int64_t cycle) {
    return int64_t(__int128(bytes) * (cycle - begin) / (end - begin));
  };
  for (int64_t at = begin; at < end;) {
    const int64_t next = std::min(end, (at / window_ + 1) * window_);
    bytes_[size_t(at / window_)] += before(next) - before(at);
    at = next;
  }
}

}  // namespace daybreak::traces
