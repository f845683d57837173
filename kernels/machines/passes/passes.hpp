// From a legal recording to a program for one core. Order: place, allocate, order, steer, finish.
#pragma once
#include <array>
#include <functional>
#include <vector>

#include "isa/program/program.hpp"
#include "kernels/machines/recording.hpp"

namespace daybreak::kernels {

// The scratchpad of each tile, by use: operand of a product -> operand, Acc -> accumulator, else
// vector.
void place(Recording&);

// First fit by lifetime (first to last instruction that names the tile); TileRefs become absolute.
// Returns the high-water marks. UserError naming tile, space, needed and available bytes on
// overflow; a scratchpad of 0 bytes is one that nobody limits.
std::array<Bytes, isa::kSpaces> allocate(Recording&, const isa::Capabilities&);

// One edge: what `from` did must have ended before `to` starts (positions in Recording::code).
struct Edge {
  uint32_t from = 0, to = 0;
};
// Edges between one pair of queues; both ends ascend.
struct QueueEdges {
  isa::Queue from{}, to{};
  std::vector<Edge> edges;
};
// Hazards between queues (read after write, write after read, write after write; scratch and
// memory), less what queue order and other edges imply. Sets fences where a DMA queue must order
// itself.
std::vector<QueueEdges> order(Recording&);

// Which entries must be executed when only steering values are kept: the backward slice of steering
// operands and of what is stored to bindings that `needed` names. Empty `needed`: all.
std::vector<bool> live_entries(const Recording&, const std::function<bool(uint16_t)>& needed);

// Entries with semaphores (one per pair of queues; more where a count would pass the chip's limit),
// labels and liveness; takes instructions and tensors out of the recording. UserError when the chip
// has too few semaphores.
isa::TaskProgram assemble_program(Recording&, const std::vector<QueueEdges>&,
                                  const std::vector<bool>& live, const isa::Capabilities&);

}  // namespace daybreak::kernels
