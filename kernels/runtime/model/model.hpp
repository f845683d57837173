// What a published config.json says about a model, in our words, and what it does not say.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace daybreak::kernels {

// A fact the file does not state, the value taken, and why. Printed with every report.
struct Assumption {
  std::string what, value, source;
};

struct RopeConfig {
  double theta = 10000;
  double factor = 1;  // YaRN; 1 = plain
  int64_t original_positions = 4096;
  double beta_fast = 32, beta_slow = 1;
  double mscale = 1, mscale_all_dim = 0;
  bool yarn = false;
};

struct IndexerConfig {
  int64_t heads = 0, dim = 0, topk = 0;
  double norm_epsilon = 1e-6;  // LayerNorm of the index keys; always assumed
  bool interleaved = false;    // RoPE layout of index queries and keys (operators.md section 0)
};

struct ModelConfig {
  std::string name, architecture;
  int64_t layers = 0, hidden = 0, heads = 0;
  int64_t q_lora = 0, kv_lora = 0, nope_dim = 0, rope_dim = 0, value_dim = 0;
  bool rope_interleaved = true;  // of the attention's own rope part
  int64_t max_positions = 0;
  double rms_epsilon = 1e-6;
  RopeConfig rope;
  IndexerConfig indexer;    // heads == 0: no sparse attention
  bool scale_ue8m0 = true;  // activation scales are powers of two
  int64_t experts = 0, experts_per_token = 0, dense_layers = 0, moe_intermediate = 0;
  int64_t shared_experts = 0, expert_groups = 1, limited_groups = 1;
  double routed_scale = 1;
  // Tokens of a page of either cache; no config.json says it, so both are among `assumed`.
  int64_t kv_page_tokens = 64, index_page_tokens = 64;
  std::vector<Assumption> assumed;

  // (nope + rope)^-1/2, times the YaRN magnitude squared where it applies (operators.md section 1).
  double softmax_scale() const;
  // What cosine and sine are multiplied by; 1 unless YaRN's two magnitudes differ.
  double rope_magnitude() const;
};

// Reads a Hugging Face config.json of model_type deepseek_v32 or glm_moe_dsa, or DeepSeek's own
// inference config (keys dim, n_layers, ...). `path` may be the name of a file in configs/models.
// Throws UserError with file:line:column for anything missing or mistyped, naming what is allowed;
// an architecture without sparse attention is an error of its own.
ModelConfig read_model(const std::string& path);
ModelConfig read_model_text(const std::string& text, const std::string& name);

}  // namespace daybreak::kernels
