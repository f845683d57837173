// The routers of a mesh or ring between the cores and the slices of the L2, and their links. A core
// has a router of its own; slices are spread over the routers of the cores in order. A mesh of
// `columns` routes along its row first, then along its column (routers of a last row that no core
// fills pass on what comes); a ring takes the shorter way. A crossbar has no routers.
//
// A message books a link when it reaches it: who comes first goes first, its bytes occupy the link
// one after the other, and its head is at the next router `hop_latency` later.
#pragma once
#include <cstdint>
#include <vector>

#include "sim/chip/config.hpp"
#include "sim/memory/link.hpp"

namespace daybreak::sim {

class Noc {
 public:
  struct Hop {
    int32_t router;  // the next one
    int64_t at;      // cycle of the head there
    int64_t waited;  // cycles for the link
  };

  Noc(const NocConfig&, int64_t cores, int64_t slices);

  bool routed() const { return shape_ != Shape::crossbar; }
  int32_t of_core(int64_t core) const { return int32_t(core); }
  int32_t of_slice(int64_t slice) const { return int32_t(slice * cores_ / slices_); }
  // Cycles between two routers when nothing is in the way.
  int64_t unloaded(int32_t from, int32_t to) const { return hops(from, to) * hop_latency_; }
  // One link on the way from a router at `cycle` to another one.
  Hop step(int32_t from, int32_t to, int64_t bytes, int64_t cycle);

 private:
  enum class Shape : uint8_t { crossbar, mesh, ring };
  enum Direction { kEast, kWest, kSouth, kNorth, kDirections };
  int64_t hops(int32_t from, int32_t to) const;
  Direction towards(int32_t from, int32_t to) const;
  int32_t neighbour(int32_t router, Direction) const;

  Shape shape_;
  int64_t cores_, slices_, columns_, hop_latency_;
  std::vector<Link> links_;  // by router and direction
};

}  // namespace daybreak::sim
