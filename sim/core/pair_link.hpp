// Gathered rows that a pair of tasks shares (isa::Sharing). Tasks 2n and 2n+1 of a launch are
// partners, wherever they run. In each direction the k-th delivery of the giver fills the place of
// the k-th receipt of the taker, which the taker has declared free before.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/core/clock.hpp"
#include "sim/core/waiter.hpp"

namespace daybreak::sim {

// Towards one partner. The cycles are those in which the other one knows.
struct PairDirection {
  std::vector<Cycle> free;    // by receipt: its place may be filled
  std::vector<Cycle> landed;  // by delivery: the rows are there
  WaitList giver, taker;
};

class PairLink {
 public:
  PairDirection& towards(uint32_t task) { return directions_[task % 2]; }
  PairDirection& from(uint32_t task) { return directions_[(task + 1) % 2]; }

 private:
  friend class PairLinks;
  std::array<PairDirection, 2> directions_;
  int ended_ = 0;
};

// The links in use; one lives from the first sharing of its tasks until both have ended.
class PairLinks {
 public:
  PairLink& of(uint32_t launch, uint32_t task) { return links_[{launch, task / 2}]; }
  void ended(uint32_t launch, uint32_t task) {
    const auto at = links_.find({launch, task / 2});
    if (++at->second.ended_ == 2) links_.erase(at);
  }

 private:
  std::map<std::pair<uint32_t, uint32_t>, PairLink> links_;
};

}  // namespace daybreak::sim
