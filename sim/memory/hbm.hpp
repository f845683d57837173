// All HBM stacks of a chip behind their address map, and a port straight to them (no NoC, no L2)
// for measurements of the DRAM alone and for adapters.
#pragma once
#include <memory>
#include <systemc>
#include <vector>

#include "sim/memory/delivery.hpp"
#include "sim/memory/event_wheel.hpp"
#include "sim/memory/hbm_stack.hpp"
#include "sim/memory/port.hpp"

namespace daybreak::sim {

class Hbm final : public Dram {
 public:
  Hbm(const HbmConfig&, DramListener&);

  int request(uint64_t address, uint64_t bytes, bool write, uint64_t owner, int64_t at) override;
  HbmStats stats() const override;
  bool idle() const override;
  int64_t tick_fs() const override { return timing().tick_fs; }
  HbmStack& stack(int index) { return *stacks_[index]; }
  int stacks() const { return int(stacks_.size()); }
  const AddressMap& map() const { return map_; }
  // Ticks of the DRAM clock since time 0, as fs.
  const HbmTiming& timing() const { return stacks_[0]->timing(); }

 private:
  HbmTiming checked_;  // first: refuses a geometry that the map could not divide
  AddressMap map_;
  std::vector<std::unique_ptr<HbmStack>> stacks_;
};

// A port whose bursts go straight to the controllers and may be of any length. Completions carry
// the slowest piece's delay; unloaded are controller, column access and transfer. Writes complete
// with the end of their data burst.
class HbmPort final : public sc_core::sc_module, public MemoryPort, private DramListener {
 public:
  // `controller_fs` is the pipeline in front of the queues.
  HbmPort(sc_core::sc_module_name, const HbmConfig&, int64_t controller_fs = 0);
  void submit(std::span<const Burst>, MemoryClient&) override;
  Hbm& hbm() { return hbm_; }
  bool idle() const { return outstanding_ == 0; }

 private:
  struct Transfer {
    MemoryClient* client = nullptr;
    uint64_t tag = 0;
    int32_t pieces = 0, next = -1;
    int64_t at = 0;  // tick
    RunDelay delay;
  };
  void served(uint64_t owner, int64_t tick, const RunDelay&) override;
  void run();

  Hbm hbm_;
  int64_t controller_fs_;
  std::vector<Transfer> transfers_;
  int32_t free_ = -1;
  int64_t outstanding_ = 0;
  EventWheel<int32_t> done_;  // ticks
  Delivery delivery_;
  Wake wake_;
};

}  // namespace daybreak::sim
