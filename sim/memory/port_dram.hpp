// Any memory port as the DRAM behind an L2: requests are handed to it when they reach the
// controllers; what the port says of delays is passed on.
#pragma once
#include <systemc>
#include <vector>

#include "sim/memory/dram.hpp"
#include "sim/memory/wake.hpp"

namespace daybreak::sim {

class PortDram : public sc_core::sc_module, public Dram, private MemoryClient {
 public:
  // The port must outlive this.
  PortDram(sc_core::sc_module_name, MemoryPort&, DramListener&);
  int request(uint64_t address, uint64_t bytes, bool write, uint64_t owner, int64_t at) override;
  HbmStats stats() const override { return stats_; }
  bool idle() const override { return in_flight_ == 0; }
  int64_t tick_fs() const override { return 1; }

 private:
  struct Pending {
    int64_t at;
    uint64_t order;
    Burst burst;
    // std heaps put the largest first: the earliest is the largest here.
    bool operator<(const Pending& o) const { return at != o.at ? at > o.at : order > o.order; }
  };
  void completed(std::span<const Completion>) override;
  void run();

  MemoryPort& port_;
  DramListener& listener_;
  std::vector<Pending> pending_;
  std::vector<Burst> batch_;
  uint64_t order_ = 0;
  int64_t in_flight_ = 0;
  HbmStats stats_;
  Wake wake_;
};

}  // namespace daybreak::sim
