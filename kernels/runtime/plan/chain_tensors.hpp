// Bindings of one chain's own tensors, and the descriptors over them.
#pragma once
#include "kernels/runtime/plan/inputs.hpp"
#include "kernels/runtime/plan/tuning.hpp"

namespace daybreak::kernels {

struct ChainTensors {
  ChainTensors(const DecodeInputs&, const ChainTuning&, const std::string& prefix);

  uint16_t index_q, index_weights, q;           // prepared queries
  uint16_t scores, lists, positions, valid;     // selection
  uint16_t rows, stamps;                        // aggregated index table
  uint16_t out, lse, partial_out, partial_lse;  // attention
  int64_t score_positions = 0;                  // of a row of `scores`
  // What attention reads: this chain's selection, or the synthetic one.
  uint16_t chosen, chosen_count;
};

}  // namespace daybreak::kernels
