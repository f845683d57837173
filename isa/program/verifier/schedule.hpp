// Runs a program's queues and semaphores without time and without values: finds deadlock, and for every
// entry what has surely retired when it starts.
#pragma once
#include <array>
#include <vector>

#include "isa/program/program.hpp"
#include "isa/program/verify.hpp"

namespace daybreak::isa::verifier {

// Per queue: how many of its entries have surely retired.
using Clock = std::array<int32_t, kQueues>;

struct Schedule {
  std::vector<int32_t> started;   // entries in the order they started: a topological order
  std::vector<Clock> at_start;    // by entry
  std::vector<int32_t> position;  // by entry: its place in its queue
  std::vector<Finding> deadlocks;

  // Whether `first` has surely retired when `second` starts.
  bool ordered(const TaskProgram& p, int64_t first, int64_t second) const {
    return at_start[second][int(queue_of(p.code[first].instruction))] > position[first];
  }
};

Schedule run(const TaskProgram&, const Capabilities&);

constexpr bool overlaps_entries(Queue q) { return q == Queue::dma_in || q == Queue::dma_out; }

}  // namespace daybreak::isa::verifier
