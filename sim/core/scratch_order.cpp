#include "sim/core/scratch_order.hpp"

namespace daybreak::sim {
namespace {

// Distinct regions kept from task to task before the table starts anew.
constexpr size_t kRegions = 4096;

bool same_bytes(const isa::TileRef& a, const isa::TileRef& b) {
  return a.offset == b.offset && a.rows == b.rows && a.pitch == b.pitch && a.space == b.space &&
         a.row_bytes() == b.row_bytes();
}

// Offsets and pitches are multiples of large powers of two, so only the high bits of products tell them
// apart.
size_t hash(const isa::TileRef& t) {
  uint64_t h = (uint64_t(t.offset) << 32 | t.pitch) * 0x9E3779B97F4A7C15u;
  h ^= h >> 32;
  h += uint64_t(t.rows) << 40 | uint64_t(t.row_bytes()) << 2 | uint64_t(t.space);
  h *= 0xC2B2AE3D27D4EB4Fu;
  return size_t(h >> 32);
}

}  // namespace

void ScratchOrder::begin_task() {
  ++task_;
  if (slots_.empty() || regions_.size() > kRegions) {
    regions_.clear();
    slots_.assign(256, 0);
  }
}

uint32_t ScratchOrder::find(const isa::TileRef& tile) {
  const size_t mask = slots_.size() - 1;  // a power of two
  for (size_t slot = hash(tile) & mask;; slot = (slot + 1) & mask) {
    if (slots_[slot] == 0) return add(tile, slot);
    if (same_bytes(regions_[slots_[slot] - 1].tile, tile)) return slots_[slot] - 1;
  }
}

uint32_t ScratchOrder::add(const isa::TileRef& tile, size_t slot) {
  const uint32_t id = uint32_t(regions_.size());
  Region fresh{.tile = tile, .task = task_, .overlaps = {id}};
  for (uint32_t other = 0; other < id; ++other) {
    if (!isa::overlap(regions_[other].tile, tile)) continue;
    fresh.overlaps.push_back(other);
    regions_[other].overlaps.push_back(id);
  }
  regions_.push_back(std::move(fresh));
  slots_[slot] = id + 1;
  if (regions_.size() * 2 > slots_.size()) grow();
  return id;
}

void ScratchOrder::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t id = 0; id < regions_.size(); ++id) {
    size_t slot = hash(regions_[id].tile) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = id + 1;
  }
}

ScratchOrder::Conflict ScratchOrder::check(const isa::TileRef& tile, bool writes,
                                           const Sequences& seen) {
  const uint32_t id = find(tile);
  for (uint32_t other : regions_[id].overlaps) {
    const Region& r = regions_[other];
    if (r.task != task_) continue;
    for (int q = 0; q < isa::kQueues; ++q) {
      if (r.written[q] > seen[q]) return {true, true, isa::Queue(q), r.written[q]};
      if (writes && r.read[q] > seen[q]) return {true, false, isa::Queue(q), r.read[q]};
    }
  }
  return {};
}

void ScratchOrder::record(const isa::TileRef& tile, bool reads, bool writes, isa::Queue queue,
                          Sequence sequence) {
  Region& r = regions_[find(tile)];
  if (r.task != task_) {
    r.task = task_;
    r.read = r.written = {};
  }
  if (reads) r.read[int(queue)] = sequence;
  if (writes) r.written[int(queue)] = sequence;
}

}  // namespace daybreak::sim
