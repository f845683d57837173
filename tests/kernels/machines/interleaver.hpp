// Executes a TaskProgram in a random order among those a chip could take (isa/program/verify.hpp
// states the rules): queues start in issue order, DMA queues overlap their entries and retire them
// in order, semaphores count up to a limit. Anything a program leaves unordered is taken in some
// order sooner or later, at any moment between its start and its retirement, so a missing wait
// shows in the values.
#pragma once
#include <cstdint>
#include <functional>
#include <map>

#include "isa/memory/image.hpp"
#include "isa/program/program.hpp"

namespace daybreak::testing {

struct InterleaveOptions {
  uint64_t seed = 1;
  int64_t semaphore_max = 15;
  int queue_depth = 8;     // entries a queue takes ahead; 0: no limit
  int overlap = 6;         // DMA entries in flight
  bool only_live = false;  // leave out entries that values steering leaves out
};

// Counters that the cores of a launch share: kept from task to task, which run in ascending order.
using SharedCounters = std::map<int32_t, int64_t>;

// Throws std::runtime_error on deadlock or a semaphore past its limit.
void run_interleaved(const isa::TaskProgram&, const isa::Capabilities&, isa::MemoryImage&,
                     const isa::BindingTable&, SharedCounters&, const InterleaveOptions&);

}  // namespace daybreak::testing
