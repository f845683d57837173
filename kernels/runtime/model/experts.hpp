// What a published config.json says about the routed experts of one layer, in our words.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/runtime/model/model.hpp"

namespace daybreak::kernels {

enum class GateForm : uint8_t { silu, swiglu, situ };
// Formats weights can have in memory.
enum class WeightFormat : uint8_t { mxfp4, fp8, bf16 };

struct ExpertModel {
  std::string name, architecture;
  int64_t layers = 0;  // with routed experts
  int64_t hidden = 0;
  int64_t latent = 0;  // width of the routed experts where it is not the model's; 0: hidden
  int64_t experts = 0, topk = 0, inter = 0;
  int64_t groups = 1, keep = 1;  // group-limited choice
  bool softmax = false;          // weights: softmax over the chosen; else sigmoid with a bias
  bool normalise = true;
  double scale = 1;
  GateForm gate = GateForm::silu;
  double factor = 1, limit = 0;  // operators.md section 5
  bool interleaved = false;      // gate and up rows by turns
  bool biased = false;           // router and both products have biases
  int64_t shared_inter = 0;      // of all shared experts together; 0: none
  WeightFormat shared_format = WeightFormat::fp8;
  bool scale_ue8m0 = true;  // activation scales are powers of two
  double rms_epsilon = 1e-6;
  std::vector<Assumption> assumed;

  int64_t width() const { return latent > 0 ? latent : hidden; }
  // Bytes of one expert's three matrices, scales included.
  int64_t expert_bytes(WeightFormat) const;
};

// The experts of a model with sparse attention. UserError for more experts than the kernels take.
ExpertModel expert_model_of(const ModelConfig&);
// Reads a Hugging Face config.json of model_type deepseek_v3, deepseek_v32, glm_moe_dsa, gpt_oss or
// kimi_k3. Throws UserError with file:line:column.
ExpertModel read_expert_model(const std::string& path);
ExpertModel read_expert_model_text(const std::string& text, const std::string& name);

}  // namespace daybreak::kernels
