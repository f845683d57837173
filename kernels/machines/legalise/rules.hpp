// Rules that rewrite what a chip cannot do, each its own file, driven by isa::Capabilities alone.
// Each leaves a recording that computes the same bits (but for FP8 products without an FP8 matrix
// unit, whose chunks are 64 long instead of 128: HostOptions::fp8_matrix says the same to Host).
#pragma once
#include "isa/program/program.hpp"
#include "kernels/machines/recording.hpp"

namespace daybreak::kernels {

// A chip without FP8 products: FP8 operands, key tiles too, are cast to BF16 tiles first.
void cast_fp8_operands(Recording&, const isa::Capabilities&);
// No conversion on the way in: weights are loaded as they are and the vector unit converts them.
void convert_on_vector(Recording&, const isa::Capabilities&);
// Accumulators the vector unit cannot see: drained to a vector tile before it reads them. Where it
// writes them (rescaled outputs) the value lives in the vector tile and each product of 64 (FP8:
// 128) of the reduction is drained and added there, which keeps the order of the sums and so the
// bits.
void drain_accumulators(Recording&, const isa::Capabilities&);
// Operand scratch that the vector unit or the gather engine cannot write: those tiles live in
// vector scratch and a `move` brings what is new to the operand scratchpad before the product that
// reads it.
void move_operands(Recording&, const isa::Capabilities&);
// No gather engine: descriptors are built by the control processor.
void gather_in_software(Recording&, const isa::Capabilities&);
// No link between two cores: each partner of a pair asks for all its rows itself.
void gather_alone(Recording&, const isa::Capabilities&);
// No page walker: translate runs on the control processor.
void walk_on_control(Recording&, const isa::Capabilities&);
// Operands larger than the latches: the reduction is split in multiples of 64 (FP8: 128), then the
// columns of the result, then its rows. UserError when a latch does not hold one such piece.
void split_products(Recording&, const isa::Capabilities&);

// Where converted weights do not stay in scratch: a part of a binding for each task of a launch.
struct MemoryWorkspace {
  uint16_t binding = 0;
  int64_t share = 0;  // bytes of a task
  int64_t tasks = 0;
};
// Conversions fill slots there, and loads bring them to the tiles that products read. UserError when a
// task's part does not hold its slots.
void workspace_in_memory(Recording&, const MemoryWorkspace&, uint32_t task);

// All rules but the last one, in an order in which none undoes another.
void legalise(Recording&, const isa::Capabilities&);

}  // namespace daybreak::kernels
