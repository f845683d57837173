// What one DMA instruction moves, laid out when it starts: first what the engine itself must read
// (index entries, positions, a request entry), then page-table walks, then the pieces of data.
#pragma once
#include <algorithm>
#include <vector>

#include "sim/core/core_state.hpp"
#include "sim/units/tlb.hpp"

namespace daybreak::sim {

struct Transfer {
  InFlight flight;
  std::vector<isa::Segment> pieces;
  size_t fetches = 0;          // leading pieces that must be there before the rest is known
  std::vector<Address> walks;  // block entries, in order
  bool by_row = false;         // each data piece is named by an index entry
  isa::Sharing sharing = isa::Sharing::alone;
  size_t share = 0;                          // which of the task's deliveries or receipts it is
  bool converts = false;                     // data pieces are MXFP4 that becomes FP8
  bool around_l2 = false;                    // data pieces do not stay in the L2
  traces::Cause late = traces::Cause::busy;  // what held its last data behind the port
  Cycle inside = 0, tail = 0;  // cycles on a path inside the core, and its latency: no pieces then
  // Progress.
  size_t piece = 0, walk = 0;
  int64_t offset = 0;   // bytes of the piece already asked for
  int64_t pending = 0;  // requests in flight
  bool issued = false;  // nothing left to ask for
  Cycle data_at = 0;    // all that has come was in its place by then
};

// Request entries the engine holds: the request level of the page table is small.
class RequestCache {
 public:
  bool holds(Address entry);  // and holds it from now on

 private:
  static constexpr size_t kEntries = 64;
  std::vector<uint64_t> entries_;
  size_t next_ = 0;
};

// Block scales the converter holds, by sectors of memory, direct-mapped.
class ScaleCache {
 public:
  ScaleCache(int64_t bytes, int64_t sector)
      : sector_(sector), held_(size_t(std::max<int64_t>(bytes / sector, 1)), kEmpty) {}
  int64_t sector() const { return sector_; }
  bool holds(uint64_t number) {  // and holds it from now on
    uint64_t& place = held_[size_t(number % held_.size())];
    if (place == number) return true;
    place = number;
    return false;
  }

 private:
  static constexpr uint64_t kEmpty = ~uint64_t{0};
  int64_t sector_;
  std::vector<uint64_t> held_;
};

// What the engine looks up before it knows what to move.
struct Lookups {
  RequestCache requests;
  ScaleCache scales;
};

// Fills the plan of an instruction that starts now and checks its order against everything before
// it.
void plan_transfer(CoreState&, isa::Queue, Lookups&, Transfer&);

}  // namespace daybreak::sim
