// Traffic of memory.md section 2 on the DRAM alone: patterns, a closed loop or Poisson arrivals, and
// what came of it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/chip/config.hpp"
#include "sim/memory/port.hpp"

namespace daybreak::sim {

// SplitMix64, as memory.md's traffic wants it.
class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}
  uint64_t next();
  // Uniform below n, by multiply-high.
  uint64_t below(uint64_t n) { return uint64_t((unsigned __int128)next() * n >> 64); }

 private:
  uint64_t state_;
};

// Endless objects; an object may be longer than a burst of a core.
class TrafficSource {
 public:
  virtual ~TrafficSource() = default;
  virtual Burst next() = 0;
};

// seq, rand64, row128 ... row41984 (any "rowN"), mixseq, randmix over `span` bytes. Throws UserError
// for another word.
std::unique_ptr<TrafficSource> make_pattern(const std::string& pattern, uint64_t span,
                                            uint64_t seed);
std::vector<std::string> pattern_names();

// Rows of 656 bytes that index tables of `topk` distinct positions name, table after table: in
// ascending order, or in the order of their scores (which knows nothing of positions).
std::unique_ptr<TrafficSource> make_gather(uint64_t rows, uint64_t topk, bool sorted,
                                           uint64_t seed);

struct TrafficPlan {
  double load = 0;           // share of peak that arrives; 0: a closed loop
  int64_t window_atoms = 0;  // closed loop: atoms in flight
  double warm_us = 4, measured_us = 15.6;
  int64_t objects = 0;  // above 0: no warm-up, ends when so many objects are done
};

struct TrafficResult {
  double peak_share = 0;                                   // of the data buses' rate, whole atoms
  double useful_share = 0;                                 // the same of the objects' own bytes
  double row_hit_share = 0;                                // of the columns
  double mean_ns = 0, p50_ns = 0, p95_ns = 0, p99_ns = 0;  // of objects, arrival to last data
  double objects = 0, us = 0;                              // measured
  double bytes_per_second = 0;                             // useful
  double in_flight = 0;                                    // objects, mean over the measured time
  int64_t requests = 0;  // 64-byte pieces of all objects, warm-up included
};

// `sources`: streams that share the window evenly (one for the patterns above).
TrafficResult run_traffic(const HbmConfig&, std::vector<std::unique_ptr<TrafficSource>> sources,
                          const TrafficPlan&, uint64_t seed);

}  // namespace daybreak::sim
