// Happens-before checker of one core's scratchpads: the last reads and writes of every region that
// the task's instructions name, per queue, checked against what the toucher's queue knows.
#pragma once
#include <cstdint>
#include <vector>

#include "isa/program/tile.hpp"
#include "sim/core/hazard.hpp"

namespace daybreak::sim {

class ScratchOrder {
 public:
  // A hazard: the other instruction is entry `sequence` of `queue`.
  struct Conflict {
    bool found = false, other_writes = false;
    isa::Queue queue = isa::Queue::control;
    Sequence sequence = 0;
  };

  void begin_task();
  // Whether a touch of `tile` by an instruction that knows `seen` is ordered after all earlier
  // ones.
  Conflict check(const isa::TileRef& tile, bool writes, const Sequences& seen);
  void record(const isa::TileRef& tile, bool reads, bool writes, isa::Queue queue,
              Sequence sequence);

 private:
  struct Region {
    isa::TileRef tile;
    uint32_t task = 0;  // counter of the task the numbers below belong to
    Sequences read{}, written{};
    std::vector<uint32_t> overlaps;  // itself first
  };
  uint32_t find(const isa::TileRef&);
  uint32_t add(const isa::TileRef&, size_t slot);
  void grow();

  std::vector<Region> regions_;
  std::vector<uint32_t> slots_;  // open addressing: 0 is empty, else region + 1
  uint32_t task_ = 0;
};

}  // namespace daybreak::sim
