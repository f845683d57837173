// Network and L2 of a chip as one SystemC module (memory_system.hpp says how they behave).
//
// Events lie in cycles of the core clock. Path events (a burst at its slice, a fetch filled, data
// leaving the slice) influence clients or HBM stacks only `slack_` cycles later, so they are taken
// that much late, many per wake-up, in exact time order; completions are delivered in their own
// cycle.
#pragma once
#include <memory>
#include <systemc>
#include <vector>

#include "sim/memory/delivery.hpp"
#include "sim/memory/dram.hpp"
#include "sim/memory/event_wheel.hpp"
#include "sim/memory/l2_tags.hpp"
#include "sim/memory/link.hpp"
#include "sim/memory/noc.hpp"
#include "sim/memory/wake.hpp"

namespace daybreak::sim {

class Fabric : public sc_core::sc_module, private DramListener {
 public:
  Fabric(sc_core::sc_module_name, const ChipConfig&, const DramFactory&);

  MemoryPort& port(int core);
  MemoryStats stats() const;
  bool idle() const { return outstanding_ == 0 && fetches_in_flight_ == 0 && dram_->idle(); }
  int64_t line_bytes() const { return tags_.line_bytes(); }

 private:
  static constexpr uint64_t kNobody = ~uint64_t{0};  // owner of a write-back

  class Port : public MemoryPort {
   public:
    Port(Fabric& f, int core, const NocConfig& n)
        : fabric(f), core(core), out(n.bytes_per_cycle), in(n.bytes_per_cycle) {}
    void submit(std::span<const Burst> bursts, MemoryClient& client) override {
      fabric.submit(*this, bursts, client);
    }
    Fabric& fabric;
    int core;
    Link out, in;
    int64_t read_bytes = 0, write_bytes = 0;
  };
  // A burst on its way. Times are cycles.
  struct Transfer {
    MemoryClient* client = nullptr;
    uint64_t tag = 0, address = 0;
    uint32_t bytes = 0;
    int32_t core = 0, waits = 0, next = -1;  // fetches it waits for
    bool write = false, hit = false, around_l2 = false;
    int32_t router = 0, target = 0;  // on a mesh or ring: where it is, where it goes
    bool back = false;               // on its way from the slice
    int64_t ready = 0;               // a hit's data would leave the slice
    int64_t noc = 0;                 // cycles lost to links and slice
    int64_t l2_miss = 0;             // femtoseconds, like `late`
    RunDelay late;
  };
  // Sectors of one line on their way from HBM.
  struct Fetch {
    int64_t place = L2Tags::kAbsent;  // kAbsent: passes the L2 by
    uint64_t sectors = 0;
    int32_t pieces = 0, next = -1;  // next fetch of the same bucket
    int32_t first_waiter = -1, last_waiter = -1;
    int64_t at = 0;  // fs
    RunDelay late;
  };
  struct Waiter {
    int32_t transfer = -1, next = -1;
  };
  // Earlier access to a line that the next one to it must keep its distance from.
  struct HotLine {
    uint64_t line = ~uint64_t{0};
    int64_t free = 0;
  };
  enum class Step : uint8_t { hop, arrive, filled, leave };
  struct PathEvent {
    Step step;
    int32_t index;  // transfer or fetch
  };

  void submit(Port&, std::span<const Burst>, MemoryClient&);
  void served(uint64_t owner, int64_t tick, const RunDelay&) override;
  void run();
  void rearm();
  void prefetch(int64_t cycle);
  void hop(int32_t transfer, int64_t cycle);
  void arrive(int32_t transfer, int64_t cycle);
  // When the slice may serve the line, at `cycle` or later.
  int64_t after_same_line(int64_t slice, uint64_t line, int64_t cycle);
  void read(int32_t transfer, uint64_t line, uint64_t sectors, int64_t start);
  void write(int32_t transfer, uint64_t line, int64_t start);
  void filled(int32_t fetch, int64_t cycle);
  void resume(int32_t transfer, const Fetch&, int64_t cycle);
  void leave(int32_t transfer, int64_t cycle);
  void deliver(int32_t transfer, int64_t cycle);
  // A place for an absent line, its old contents written back; kAbsent when the set is bound.
  int64_t allocate(uint64_t line, int64_t cycle);
  // Link to the first fetch, youngest first, that may be of a place.
  int32_t& fetches_of(int64_t place) {
    return buckets_[uint64_t(place) * 0x9E3779B97F4A7C15 >> (64 - kBucketBits)];
  }
  // Calls f(index of the fetch) for those in flight for a place.
  template <class F> void each_fetch(int64_t place, F&& f) {
    for (int32_t i = fetches_of(place); i >= 0; i = fetches_[i].next)
      if (fetches_[i].place == place) f(i);
  }
  int32_t start_fetch(int64_t place, uint64_t line, uint64_t sectors, int64_t cycle);
  void wait_for(int32_t transfer, int32_t fetch);
  // Runs of neighbouring sectors of a line to or from HBM; returns their pieces.
  int to_hbm(uint64_t line, uint64_t sectors, bool write, uint64_t owner, int64_t cycle);
  Completion completion_of(const Transfer&, int64_t cycle) const;
  int64_t own(uint32_t bytes) const { return (bytes + slowest_ - 1) / slowest_; }

  static constexpr size_t kHotLines = 16;  // remembered by slice
  static constexpr int kBucketBits = 12;

  int64_t period_, latency_, hit_latency_, controller_, slack_, same_line_;
  bool write_through_, write_allocate_;
  uint32_t slowest_;  // bytes per cycle of link or slice
  std::unique_ptr<Dram> dram_;
  int64_t tick_fs_;  // of the DRAM's listener
  L2Tags tags_;
  Noc noc_;
  std::vector<Link> slices_;
  std::vector<HotLine> hot_lines_;
  std::vector<Port> ports_;
  EventWheel<PathEvent> path_;
  EventWheel<int32_t> done_;
  std::vector<Transfer> transfers_;
  std::vector<Fetch> fetches_;
  std::vector<int32_t> buckets_ = std::vector<int32_t>(1 << kBucketBits, -1);  // by place
  std::vector<Waiter> waiters_;
  int32_t free_transfer_ = -1, free_fetch_ = -1, free_waiter_ = -1;
  int64_t outstanding_ = 0, fetches_in_flight_ = 0;
  int64_t prefetched_ = -1;  // cycle whose successors' data were asked for
  Delivery delivery_;
  L2Stats l2_;
  Wake wake_;
};

}  // namespace daybreak::sim
