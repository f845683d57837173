#include "kernels/runtime/plan/chain_tensors.hpp"

#include <algorithm>

namespace daybreak::kernels {

ChainTensors::ChainTensors(const DecodeInputs& in, const ChainTuning& tuning,
                           const std::string& prefix) {
  const Workload& w = in.workload;
  const int64_t tokens = w.tokens(), rows_of_heads = tokens * in.padded_heads;
  auto add = [&](const char* name, int64_t bytes) { return in.add(prefix + name, bytes); };
  const int64_t code = w.index_form == CacheForm::fp8 ? 1 : 2;
  index_q = add("index_q", tokens * in.index_head_tile * dsa::kKey * code);
  index_weights = add("index_weights", tokens * in.index_head_tile * 4);
  q = add("q", rows_of_heads * dsa::kDim * 2);
  score_positions = dsa::padded_context(w.longest());
  scores = add("scores", tokens * score_positions * 4);
  const int64_t partial_lists =
      std::max<int64_t>(tokens * tuning.topk_splits, tokens * tuning.index_splits);
  lists = add("lists", partial_lists * dsa::kTopk * 8);
  positions = add("positions", tokens * dsa::kTopk * 4);
  valid = add("valid", tokens * 4);
  rows = add("index_table", tokens * dsa::kTopk * 4);
  stamps = add("stamps", tokens * 8);
  out = add("out", rows_of_heads * dsa::kLatent * 2);
  lse = add("lse", rows_of_heads * 4);
  const int64_t splits = tuning.attention_splits > 1 ? tuning.attention_splits : 0;
  partial_out = add("partial_out", splits * rows_of_heads * dsa::kLatent * 4);
  partial_lse = add("partial_lse", splits * rows_of_heads * 4);
  const bool computed = w.index == IndexSource::computed;
  chosen = computed ? positions : in.selected;
  chosen_count = computed ? valid : in.selected_count;
}

}  // namespace daybreak::kernels
