// Memory traffic over time in constant memory: bytes are spread evenly over the cycles of the
// instruction that asked for them and collected in windows, which double when there would be too
// many.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace daybreak::traces {

class Traffic {
 public:
  explicit Traffic(int64_t window_cycles = 1024, size_t max_windows = 8192);
  // `bytes` over [begin, end); an empty interval puts them all at `begin`.
  void add(int64_t begin, int64_t end, int64_t bytes);
  int64_t window() const { return window_; }                    // cycles
  const std::vector<int64_t>& bytes() const { return bytes_; }  // by window

 private:
  void make_room(int64_t cycle);
  int64_t window_;
  size_t max_windows_;
  std::vector<int64_t> bytes_;
};

}  // namespace daybreak::traces
