// Hugging Face config.json of model_type deepseek_v32 and glm_moe_dsa.
#include <algorithm>

#include "configs/reader/words.hpp"
#include "kernels/runtime/model/forms.hpp"

namespace daybreak::kernels {
namespace {

using configs::in_quotes;
using configs::Node;
using configs::number_text;

const std::vector<std::string> kKnown = {"deepseek_v32", "glm_moe_dsa"};

// Keys that must stand in the file.
const std::vector<std::string> kNeeded = {
    "num_hidden_layers", "hidden_size",   "num_attention_heads",
    "q_lora_rank",       "kv_lora_rank",  "qk_nope_head_dim",
    "qk_rope_head_dim",  "v_head_dim",    "max_position_embeddings",
    "rms_norm_eps",      "index_n_heads", "index_head_dim",
    "index_topk"};

// Published keys that are spelt almost like a needed one.
const std::vector<std::string> kAlike = {"qk_head_dim", "head_dim"};

// A published file holds many keys that nobody here reads, so an unknown key is no error; one that
// looks like a needed key which is absent is.
void check_spelling(const Node& root) {
  for (const auto& needed : kNeeded) {
    if (root.find(needed)) continue;
    for (const auto& key : root.keys()) {
      const auto is_in = [&](const auto& list) {
        return std::find(list.begin(), list.end(), key.name) != list.end();
      };
      if (!is_in(kNeeded) && !is_in(kAlike) && configs::nearest(key.name, {needed}) == needed &&
          configs::edit_distance(key.name, needed) <= 2)
        throw UserError(root.at(key), "the key " + in_quotes(needed) +
                                          " is missing; did you mean it by " + in_quotes(key.name) +
                                          "?");
    }
  }
}

// Refuses what cannot be planned, with the reason that helps most.
std::string architecture_of(const Node& root) {
  const std::string type = root.string_at("model_type");
  const bool known = type == kKnown[0] || type == kKnown[1];
  if (!root.has("index_topk") && !root.has("index_n_heads") && !root.has("index_head_dim")) {
    const std::string sentence =
        "the model " + in_quotes(type) +
        " has no sparse-attention indexer: index_n_heads, index_head_dim and index_topk are absent; "
        "supported are " +
        configs::any_of(kKnown);
    root.require("model_type").fail(sentence);
  }
  if (!known)
    root.require("model_type")
        .fail("'model_type' must be " + configs::any_of(kKnown) + "; got " + in_quotes(type));
  return type;
}

// `rope_parameters` (newer files) or `rope_scaling` with a top-level rope_theta (older ones).
void read_rope(const Node& root, ModelConfig& model) {
  RopeConfig& rope = model.rope;
  const bool newer = root.has("rope_parameters");
  if (newer && root.has("rope_scaling"))
    assume(model, "rope_scaling", "ignored",
           "the file also states rope_parameters, the newer form");
  const Node* part = newer                      ? root.find("rope_parameters")
                     : root.has("rope_scaling") ? root.find("rope_scaling")
                                                : nullptr;
  const bool theta_inside = part && part->has("rope_theta");
  const Node& holder = theta_inside ? *part : root;
  if (holder.has("rope_theta")) {
    rope.theta = holder.number_at("rope_theta", 10, 1e12);
  } else {
    assume(model, "rope_theta", number_text(rope.theta), "operators.md section 1");
  }
  if (!part) return;
  const char* type_key = part->has("rope_type") ? "rope_type" : "type";
  const std::string type = part->has(type_key) ? part->find(type_key)->word({"default", "yarn"})
                                               : std::string("default");
  if (type == "default") return;
  rope.yarn = true;
  rope.factor = part->number_at("factor", 1, 1e6);
  rope.original_positions = part->integer_at("original_max_position_embeddings", 1, kMostPositions);
  rope.beta_fast = part->number_or("beta_fast", 32, 1e-3, 1e6);
  rope.beta_slow = part->number_or("beta_slow", 1, 1e-3, 1e6);
  rope.mscale = part->number_or("mscale", 1, 0, 100);
  rope.mscale_all_dim = part->number_or("mscale_all_dim", 0, 0, 100);
}

// RoPE layouts: GPT-J pairs in the attention; the indexer differs between the two families.
void read_layouts(const Node& root, const std::string& type, ModelConfig& model) {
  if (root.has("rope_interleave")) {
    model.rope_interleaved = root.flag_at("rope_interleave");
  } else {
    model.rope_interleaved = true;
    assume(model, "attention RoPE layout", "interleaved", "operators.md section 0, trap 1");
  }
  if (root.has("indexer_rope_interleave")) {
    model.indexer.interleaved = root.flag_at("indexer_rope_interleave");
  } else {
    model.indexer.interleaved = type == "glm_moe_dsa";
    assume(model, "indexer RoPE layout", model.indexer.interleaved ? "interleaved" : "half-split",
           "operators.md section 0, trap 1");
  }
}

void read_scales(const Node& root, ModelConfig& model) {
  const Node* quantisation =
      root.has("quantization_config") ? root.find("quantization_config") : nullptr;
  if (quantisation && quantisation->has("scale_fmt")) {
    quantisation->find("scale_fmt")->word({"ue8m0"});
    model.scale_ue8m0 = true;
  } else {
    assume(model, "activation scales", "powers of two (ue8m0)", "operators.md section 1");
  }
}

void read_attention(const Node& root, ModelConfig& model) {
  model.layers = root.integer_at("num_hidden_layers", 1, kMostLayers);
  model.hidden = root.integer_at("hidden_size", 1, kMostWidth);
  model.heads = root.integer_at("num_attention_heads", 1, kMostHeads);
  model.q_lora = root.integer_at("q_lora_rank", 1, kMostWidth);
  model.kv_lora = root.integer_at("kv_lora_rank", 1, kMostWidth);
  model.nope_dim = root.integer_at("qk_nope_head_dim", 1, kMostHeadDim);
  model.rope_dim = root.integer_at("qk_rope_head_dim", 2, kMostHeadDim);
  model.value_dim = root.integer_at("v_head_dim", 1, kMostHeadDim);
  model.max_positions = root.integer_at("max_position_embeddings", 1, kMostPositions);
  model.rms_epsilon = root.number_at("rms_norm_eps", 0, 1);
  model.indexer.heads = root.integer_at("index_n_heads", 1, kMostHeads);
  model.indexer.dim = root.integer_at("index_head_dim", 2, kMostHeadDim);
  model.indexer.topk = root.integer_at("index_topk", 1, kMostWidth);
  // The softmax scale comes from the whole query head; `head_dim` is not it (operators.md section
  // 1).
  if (root.has("qk_head_dim")) {
    const Node& whole = root.require("qk_head_dim");
    if (whole.integer(1, 2 * kMostHeadDim) != model.nope_dim + model.rope_dim)
      whole.fail("'qk_head_dim' must be qk_nope_head_dim + qk_rope_head_dim = " +
                 std::to_string(model.nope_dim + model.rope_dim) + "; got " +
                 in_quotes(whole.text()));
  }
  for (const char* reuse : {"index_topk_freq", "index_topk_pattern", "index_skip_topk_offset"})
    if (root.has(reuse))
      assume(model, reuse, "ignored: every layer selects its own keys",
             "operators.md section 3; reuse of indices between layers is not modelled");
}

void read_experts(const Node& root, ModelConfig& model) {
  model.experts = root.integer_or("n_routed_experts", 0, 0, kMostExperts);
  model.experts_per_token = root.integer_or("num_experts_per_tok", 0, 0, kMostExperts);
  model.dense_layers = root.integer_or("first_k_dense_replace", 0, 0, kMostLayers);
  model.moe_intermediate = root.integer_or("moe_intermediate_size", 0, 0, kMostWidth);
  model.shared_experts = root.integer_or("n_shared_experts", 0, 0, kMostExperts);
  model.expert_groups = root.integer_or("n_group", 1, 1, kMostExperts);
  model.limited_groups = root.integer_or("topk_group", 1, 1, kMostExperts);
  model.routed_scale = root.number_or("routed_scaling_factor", 1, 0, 1e6);
  if (model.experts_per_token > model.experts)
    root.require("num_experts_per_tok")
        .fail("'num_experts_per_tok' must not exceed n_routed_experts = " +
              std::to_string(model.experts));
}

}  // namespace

ModelConfig read_published_form(const Node& root) {
  ModelConfig model;
  model.architecture = architecture_of(root);
  check_spelling(root);
  read_attention(root, model);
  read_rope(root, model);
  read_layouts(root, model.architecture, model);
  read_scales(root, model);
  read_experts(root, model);
  check_shapes(model, root);
  return model;
}

void assume(ModelConfig& model, const std::string& what, const std::string& value,
            const std::string& source) {
  model.assumed.push_back({what, value, source});
}

void check_shapes(const ModelConfig& model, const Node& root) {
  const auto only = [&](const char* key, int64_t value, int64_t supported, const char* why) {
    if (value == supported) return;
    root.require(key).fail(in_quotes(key) + " must be " + std::to_string(supported) + ", " + why +
                           "; got " + std::to_string(value));
  };
  only("kv_lora_rank", model.kv_lora, 512, "the latent part of a 656-byte cache record");
  only("qk_rope_head_dim", model.rope_dim, 64, "the rope part of a 656-byte cache record");
  only("index_head_dim", model.indexer.dim, 128, "the index vectors that the kernels score");
  only("index_topk", model.indexer.topk, 2048, "the list that the selection kernels keep");
}

}  // namespace daybreak::kernels
