#include "kernels/runtime/plan/workload.hpp"

#include <algorithm>

namespace daybreak::kernels {

int64_t Workload::visible(int64_t token) const {
  const int64_t request = token / queries, own = token % queries;
  return std::max<int64_t>(0, context_of(request) - queries + own + 1);
}

bool Workload::is_new(int64_t token) const {
  const int64_t seen = visible(token);
  return seen > 0 && (groups.empty() || seen > groups[size_t(token / queries)].first_new);
}

int64_t Workload::longest() const {
  return contexts.empty() ? context : *std::max_element(contexts.begin(), contexts.end());
}

Workload workload_of(const ModelConfig& model, int64_t batch, int64_t queries, int64_t context) {
  return {.batch = batch,
          .queries = queries,
          .context = context,
          .contexts = {},
          .groups = {},
          .heads = model.heads,
          .index_heads = model.indexer.heads,
          .topk = model.indexer.topk,
          .index_page = model.index_page_tokens,
          .latent_page = model.kv_page_tokens,
          .index_interleaved = model.indexer.interleaved,
          .rope_interleaved = model.rope_interleaved,
          .power_of_two_scales = model.scale_ue8m0,
          .softmax_scale = model.softmax_scale(),
          .rms_epsilon = model.rms_epsilon,
          .index_norm_epsilon = model.indexer.norm_epsilon,
          .rope = model.rope,
          .rope_magnitude = model.rope_magnitude(),
          .index_file = {}};
}

}  // namespace daybreak::kernels
