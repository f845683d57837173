// What a queue knows to be finished, as a vector clock: for each queue of its own task a sequence
// number (entries of that queue count from 1), and the same for tasks of other cores that shared
// counters told it about. Retirement inside a queue is in order, so a number stands for everything
// before it.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "isa/program/types.hpp"

namespace daybreak::sim {

using Sequence = uint32_t;
using Sequences = std::array<Sequence, isa::kQueues>;
using Foreign = std::vector<std::pair<uint32_t, Sequences>>;  // by task, ascending
using ForeignRef = std::shared_ptr<const Foreign>;

// The union of two sets of facts; shares one of the two where it holds everything.
ForeignRef join(const ForeignRef& a, const ForeignRef& b);

struct Knowledge {
  Sequences seen{};
  ForeignRef foreign;

  void join(const Knowledge& other) {
    for (int q = 0; q < isa::kQueues; ++q) seen[q] = std::max(seen[q], other.seen[q]);
    if (other.foreign) foreign = sim::join(foreign, other.foreign);
  }
  // Whether entry `sequence` of `queue` of another task is known to have finished.
  bool knows(uint32_t task, isa::Queue queue, Sequence sequence) const;
};

}  // namespace daybreak::sim
