// Which launches are ordered: `after` lists and streams, transitively.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "isa/program/program.hpp"

namespace daybreak::sim {

class LaunchOrder {
 public:
  // Throws InvariantError on a launch that does not exist or a circle.
  explicit LaunchOrder(std::span<const isa::Launch>);

  // Launches that must have ended before `launch` is ready.
  const std::vector<uint32_t>& needs(uint32_t launch) const { return needs_[launch]; }
  // Whether `a` has ended before `b` is ready, whatever the timing.
  bool before(uint32_t a, uint32_t b) const { return before_[b][a / 64] >> (a % 64) & 1; }
  // Whether every launch in `ended` comes before every one not in `finished`.
  bool all_before_rest(const std::vector<uint64_t>& ended,
                       const std::vector<uint64_t>& finished) const;

 private:
  std::vector<std::vector<uint32_t>> needs_;
  std::vector<std::vector<uint64_t>> before_;  // by launch: bit set of its ancestors
};

}  // namespace daybreak::sim
