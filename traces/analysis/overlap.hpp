// How much of the time of tasks the matrix unit, the vector unit and the DMA engine (either
// direction) of a core worked side by side, and how many instructions its DMA engine had in flight.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "traces/event/event.hpp"

namespace daybreak::traces {

class OverlapAccount : public Observer {
 public:
  void unit(const UnitInfo&) override;
  void span(const UnitSpan&) override;
  void instruction(const InstructionEvent&) override;
  void task(const TaskEvent&) override;

  // Core cycles with exactly this set at work, summed over cores. Bits: 1 matrix, 2 vector, 4 DMA.
  std::array<int64_t, 8> cycles() const;
  int64_t task_cycles() const { return task_cycles_; }  // summed over cores
  // DMA instructions of the inbound queue: mean number in flight while a task runs.
  double loads_in_flight() const;
  // "nothing", "matrix", "matrix + vector", ...
  static std::string name_of_set(unsigned set);

 private:
  struct Edge {
    int64_t at;
    int32_t unit;
    int32_t change;
  };
  std::vector<int32_t> bit_, core_;             // by unit id; bit 0: not looked at
  std::map<int32_t, std::vector<Edge>> edges_;  // by core
  int64_t task_cycles_ = 0, load_cycles_ = 0;
};

}  // namespace daybreak::traces
