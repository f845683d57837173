#include "sim/memory/noc.hpp"

#include <cstdlib>

namespace daybreak::sim {
namespace {

int64_t square_side(int64_t cores) {
  int64_t side = 1;
  while (side * side < cores) ++side;
  return side;
}

}  // namespace

Noc::Noc(const NocConfig& c, int64_t cores, int64_t slices)
    : shape_(c.topology == "mesh"   ? Shape::mesh
             : c.topology == "ring" ? Shape::ring
                                    : Shape::crossbar),
      cores_(cores),
      slices_(slices),
      columns_(c.columns > 0 ? c.columns : square_side(cores)),
      hop_latency_(c.hop_latency) {
  if (!routed()) return;
  const int64_t routers =
      shape_ == Shape::ring ? cores : (cores + columns_ - 1) / columns_ * columns_;
  links_.assign(size_t(routers * kDirections), Link(c.link_bytes_per_cycle));
}

int64_t Noc::hops(int32_t from, int32_t to) const {
  const int64_t apart = std::abs(int64_t(from) - to);
  switch (shape_) {
    case Shape::crossbar: return 0;
    case Shape::ring: return apart < cores_ - apart ? apart : cores_ - apart;
    case Shape::mesh: break;
  }
  return std::abs(from % columns_ - to % columns_) + std::abs(from / columns_ - to / columns_);
}

Noc::Direction Noc::towards(int32_t from, int32_t to) const {
  if (shape_ == Shape::ring) {
    const int64_t east = to > from ? to - from : to - from + cores_;
    return 2 * east <= cores_ ? kEast : kWest;
  }
  const int64_t x = from % columns_, to_x = to % columns_;
  if (x != to_x) return x < to_x ? kEast : kWest;
  return from < to ? kSouth : kNorth;
}

int32_t Noc::neighbour(int32_t router, Direction direction) const {
  switch (direction) {
    case kEast: ++router; break;
    case kWest: --router; break;
    case kSouth: router += int32_t(columns_); break;
    default: router -= int32_t(columns_);
  }
  if (shape_ == Shape::ring) router = int32_t((router + cores_) % cores_);
  return router;
}

Noc::Hop Noc::step(int32_t from, int32_t to, int64_t bytes, int64_t cycle) {
  const Direction direction = towards(from, to);
  const int64_t start = links_[size_t(from * kDirections + direction)].take(cycle, bytes);
  return {neighbour(from, direction), start + hop_latency_, start - cycle};
}

}  // namespace daybreak::sim
