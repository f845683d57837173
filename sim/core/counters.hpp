// Counters shared by the cores of one launch. They only rise; a wait sees a signal `latency`
// cycles after it retired, and knows from then on what every signal that it could see knew.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/core/clock.hpp"
#include "sim/core/knowledge.hpp"
#include "sim/core/waiter.hpp"

namespace daybreak::sim {

class Counters {
 public:
  Counters(size_t count, Cycle latency) : latency_(latency), all_(count) {}

  size_t size() const { return all_.size(); }
  int64_t value(size_t counter) const { return int64_t(all_[counter].signals.size()); }
  // Cycle from which a wait for `count` can start; kNever while too few signals have been given.
  Cycle reached_at(size_t counter, int64_t count) const;
  // What a wait for `count` that starts at `at` learns, and whose signal let it go (-1: none
  // needed).
  struct Learned {
    ForeignRef facts;
    Cycle given = 0;
    int32_t unit = -1;
  };
  Learned learn(size_t counter, int64_t count, Cycle at) const;
  void signal(size_t counter, Cycle at, int32_t unit, const ForeignRef& facts);
  WaitList& waiters(size_t counter) { return all_[counter].waiters; }

 private:
  struct Signal {
    Cycle given;
    int32_t unit;
    ForeignRef facts;  // of this signal and all before it
  };
  struct Counter {
    std::vector<Signal> signals;
    WaitList waiters;
  };
  Cycle latency_;
  std::vector<Counter> all_;
};

}  // namespace daybreak::sim
