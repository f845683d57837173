// How a workload is cut into tasks for a chip: data, not code in kernels. Everything here is a count;
// none of it changes what is computed beyond the order of split sums.
#pragma once
#include <cstdint>
#include <vector>

#include "isa/program/program.hpp"
#include "kernels/runtime/plan/workload.hpp"
#include "kernels/tile/tuning.hpp"

namespace daybreak::kernels {

struct ChainTuning {
  int index_splits = 1;      // tasks per request of indexer and indexer_topk
  int topk_splits = 1;       // partial lists per token
  int attention_splits = 1;  // tasks per (token, 64 heads) of sparse_mla
  // Best first: the plan takes the first that fits the chip's scratchpads.
  std::vector<Tuning> indexer, topk, attention, rows;
};

// Whether two cores share the rows of a token that both gather: where it pays, wherever it can be, never.
enum class Pairing : uint8_t { automatic, on, off };

// Of sparse_mla for tasks of `keys` keys.
std::vector<Tuning> attention_tunings(int64_t keys, const isa::Capabilities& chip,
                                      Pairing = Pairing::automatic);
// Fills the chip's cores where the batch alone does not, and bounds the length of one task's program.
ChainTuning tuning_for(const Workload&, const isa::Capabilities& chip,
                       Pairing = Pairing::automatic);

}  // namespace daybreak::kernels
