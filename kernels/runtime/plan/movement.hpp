// Kernels that only move an array into the scratchpads, block by block (measurements/FORMAT.md: copy,
// reread, shared_read): what DMA engines, L2 and HBM do without anybody computing.
#pragma once
#include <cstdint>
#include <string>

#include "kernels/runtime/plan/inputs.hpp"
#include "kernels/runtime/plan/step.hpp"

namespace daybreak::kernels {

struct Movement {
  // What each core reads: its share once; its share of each slice `passes` times before the next
  // slice; every block, from the first on or from its share on and round.
  enum class Kind { copy, reread, same, staggered } kind = Kind::copy;
  int64_t rows = 1, row_bytes = 0, pitch = 0;  // the array
  int64_t block_rows = 1, block_bytes = 0;     // moved by one descriptor
  int64_t misalignment = 0;                    // bytes between a 512-byte boundary and the array
  int64_t passes = 1, slice_bytes = 0;         // reread
  bool operand = false;                        // into the matrix unit's scratchpad
};

// One step, spread over `cores`.
void add_movement(Plan& plan, const DecodeInputs& inputs, const std::string& name,
                  const Movement& movement, int64_t cores);

}  // namespace daybreak::kernels
