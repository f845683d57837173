// DeepSeek's inference config: the same facts under other names, fewer of them.
#include "configs/reader/words.hpp"
#include "kernels/runtime/model/forms.hpp"

namespace daybreak::kernels {

using configs::Node;

ModelConfig read_inference_form(const Node& root) {
  ModelConfig model;
  model.architecture = "deepseek_v32";
  if (!root.has("index_n_heads") && !root.has("index_topk"))
    root.require("dim").fail(
        "the model has no sparse-attention indexer: index_n_heads and index_topk are absent");
  model.layers = root.integer_at("n_layers", 1, kMostLayers);
  model.hidden = root.integer_at("dim", 1, kMostWidth);
  model.heads = root.integer_at("n_heads", 1, kMostHeads);
  model.q_lora = root.integer_at("q_lora_rank", 1, kMostWidth);
  model.kv_lora = root.integer_at("kv_lora_rank", 1, kMostWidth);
  model.nope_dim = root.integer_at("qk_nope_head_dim", 1, kMostHeadDim);
  model.rope_dim = root.integer_at("qk_rope_head_dim", 2, kMostHeadDim);
  model.value_dim = root.integer_at("v_head_dim", 1, kMostHeadDim);
  model.indexer.heads = root.integer_at("index_n_heads", 1, kMostHeads);
  model.indexer.dim = root.integer_at("index_head_dim", 2, kMostHeadDim);
  model.indexer.topk = root.integer_at("index_topk", 1, kMostWidth);
  model.experts = root.integer_or("n_routed_experts", 0, 0, kMostExperts);
  model.experts_per_token = root.integer_or("n_activated_experts", 0, 0, kMostExperts);
  model.dense_layers = root.integer_or("n_dense_layers", 0, 0, kMostLayers);
  model.moe_intermediate = root.integer_or("moe_inter_dim", 0, 0, kMostWidth);
  model.shared_experts = root.integer_or("n_shared_experts", 0, 0, kMostExperts);
  model.expert_groups = root.integer_or("n_expert_groups", 1, 1, kMostExperts);
  model.limited_groups = root.integer_or("n_limited_groups", 1, 1, kMostExperts);
  model.routed_scale = root.number_or("route_scale", 1, 0, 1e6);
  if (root.has("scale_fmt")) {
    root.find("scale_fmt")->word({"ue8m0"});
  } else {
    assume(model, "activation scales", "powers of two (ue8m0)", "operators.md section 1");
  }

  // max_seq_len of this form is the demo's buffer, not the model's limit.
  const std::string source = "operators.md section 1 (DeepSeek-V3.2-Exp)";
  model.max_positions = 163840;
  model.rms_epsilon = 1e-6;
  model.rope = {.theta = 10000,
                .factor = 40,
                .original_positions = 4096,
                .beta_fast = 32,
                .beta_slow = 1,
                .mscale = 1,
                .mscale_all_dim = 1,
                .yarn = true};
  model.rope_interleaved = true;
  model.indexer.interleaved = false;
  assume(model, "max positions", "163840", source);
  assume(model, "rms epsilon", "1e-06", source);
  assume(model, "rope", "theta 10000, YaRN factor 40 over 4096 positions", source);
  assume(model, "attention RoPE layout", "interleaved", "operators.md section 0, trap 1");
  assume(model, "indexer RoPE layout", "half-split", "operators.md section 0, trap 1");
  check_shapes(model, root);
  return model;
}

}  // namespace daybreak::kernels
