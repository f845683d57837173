// The index kernels by head tile, query tokens and cache form: compiled once per form and head tile.
#pragma once
#include "kernels/library/dsa/indexer.hpp"
#include "kernels/library/dsa/indexer_prepare.hpp"
#include "kernels/library/dsa/indexer_topk.hpp"
#include "kernels/runtime/plan/step.hpp"

namespace daybreak::kernels {

// Arguments of a Record kernel do not depend on its template arguments: one set serves all of them.
using IndexerArgs = IndexerOf<Record, 64, 1, dsa::Fp8>::Args;
using IndexerTopkArgs = IndexerTopkOf<Record, 64, 1, dsa::Fp8>::Args;

// Binds the variant for `queries` tokens, 1 to 8: the next larger of those compiled (FP8 1, 2, 4, 8; BF16,
// which stands for published kernels, 1, 5, 8 and 64 heads).
struct IndexSteps {
  void (*prepare)(Step&, const std::vector<Tuning>&,
                  const IndexerPrepareOf<Record, 64, dsa::Fp8>::Args&);
  void (*score)(Step&, const std::vector<Tuning>&, const IndexerArgs&);
  void (*score_and_select)(Step&, const std::vector<Tuning>&, const IndexerTopkArgs&);
};

IndexSteps index_steps_fp8_64(int queries);
IndexSteps index_steps_fp8_32(int queries);
IndexSteps index_steps_bf16_64(int queries);

}  // namespace daybreak::kernels
