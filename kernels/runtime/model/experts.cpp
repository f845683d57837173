#include "kernels/runtime/model/experts.hpp"

#include <algorithm>

#include "configs/reader/loader.hpp"
#include "configs/reader/words.hpp"
#include "kernels/runtime/model/forms.hpp"

namespace daybreak::kernels {
namespace {

using configs::Node;

constexpr int64_t kMostRouted = 1024, kMostChosen = 16;  // what the routing kernels are built for

void note(ExpertModel& m, const std::string& what, const std::string& value,
          const std::string& source) {
  m.assumed.push_back({what, value, source});
}

void read_sizes(const Node& root, ExpertModel& m, const char* experts, const char* topk,
                const char* inter) {
  const int64_t layers = root.integer_at("num_hidden_layers", 1, kMostLayers);
  m.layers = layers - root.integer_or("first_k_dense_replace", 0, 0, layers);
  m.hidden = root.integer_at("hidden_size", 1, kMostWidth);
  m.experts = root.integer_at(experts, 1, kMostRouted);
  m.topk = root.integer_at(topk, 1, kMostChosen);
  m.inter = root.integer_at(inter, 1, kMostWidth);
  m.rms_epsilon = root.number_at("rms_norm_eps", 0, 1);
  if (m.topk > m.experts)
    root.require(topk).fail("'" + std::string(topk) + "' must not exceed the " +
                            std::to_string(m.experts) + " experts");
}

void read_groups(const Node& root, ExpertModel& m, const char* groups, const char* keep) {
  m.groups = root.integer_or(groups, 1, 1, m.experts);
  m.keep = root.integer_or(keep, 1, 1, m.groups);
  if (m.experts % m.groups != 0)
    root.require(groups).fail("'" + std::string(groups) + "' must divide the " +
                              std::to_string(m.experts) + " experts");
}

void deepseek(const Node& root, ExpertModel& m) {
  read_sizes(root, m, "n_routed_experts", "num_experts_per_tok", "moe_intermediate_size");
  read_groups(root, m, "n_group", "topk_group");
  if (root.has("scoring_func")) root.find("scoring_func")->word({"sigmoid"});
  m.normalise = root.flag_or("norm_topk_prob", true);
  m.scale = root.number_or("routed_scaling_factor", 1, 0, 1e6);
  m.shared_inter = root.integer_or("n_shared_experts", 0, 0, kMostExperts) * m.inter;
  note(m, "routed experts", "MXFP4, blocks of 32 along the input, low nibble first",
       "the study's premise; the checkpoint has FP8");
}

void gpt_oss(const Node& root, ExpertModel& m) {
  read_sizes(root, m, "num_local_experts", "num_experts_per_tok", "intermediate_size");
  m.softmax = m.interleaved = m.biased = true;
  m.gate = GateForm::swiglu;
  m.limit = root.number_at("swiglu_limit", 0, 1e6);
  m.factor = 1.702;
  note(m, "swiglu alpha", "1.702", "operators.md section 5");
  note(m, "gate and up rows", "by turns, gates first", "operators.md section 5");
  note(m, "activations", "E4M3 per token and 128, scales powers of two",
       "ours: the chip multiplies FP8; the checkpoint computes in BF16");
}

void kimi_k3(const Node& file, ExpertModel& m) {
  const Node& root = file.has("text_config") ? file.require("text_config") : file;
  read_sizes(root, m, "num_experts", "num_experts_per_token", "moe_intermediate_size");
  read_groups(root, m, "num_expert_group", "topk_group");
  root.require("moe_router_activation_func").word({"sigmoid"});
  m.normalise = root.flag_or("moe_renormalize", true);
  m.scale = root.number_or("routed_scaling_factor", 1, 0, 1e6);
  m.gate = GateForm::situ;
  m.factor = root.number_at("activation_situ_beta", 1e-6, 1e6);
  m.limit = root.number_at("activation_situ_linear_beta", 1e-6, 1e6);
  m.latent = root.integer_or("routed_expert_hidden_size", 0, 0, kMostWidth);
  m.shared_inter = root.integer_or("num_shared_experts", 0, 0, kMostExperts) * m.inter;
  m.shared_format = WeightFormat::bf16;
  note(m, "nibble order", "low nibble first", "operators.md section 9; one thread, no shard seen");
  note(m, "shared experts", "BF16 at the model's width", "quantization_config.ignore");
  note(m, "activations", "E4M3 per token and 128, scales powers of two",
       "ours: the file states no activation format");
}

struct Family {
  const char* type;
  void (*read)(const Node&, ExpertModel&);
};
constexpr Family kFamilies[] = {{"deepseek_v3", deepseek},
                                {"deepseek_v32", deepseek},
                                {"glm_moe_dsa", deepseek},
                                {"gpt_oss", gpt_oss},
                                {"kimi_k3", kimi_k3}};

ExpertModel read_node(const Node& root, const std::string& name) {
  if (!root.is_map()) root.fail("a model's config.json is an object of keys");
  ExpertModel m;
  m.name = name;
  m.architecture = root.string_at("model_type");
  std::vector<std::string> known;
  for (const Family& f : kFamilies) {
    known.push_back(f.type);
    if (m.architecture != f.type) continue;
    f.read(root, m);
    if (m.width() % 32 != 0 || m.inter % 32 != 0)
      root.require("model_type").fail("expert widths must be multiples of 32, the MXFP4 block");
    return m;
  }
  root.require("model_type")
      .fail("'model_type' of a model with routed experts must be " + configs::any_of(known) +
            "; got " + configs::in_quotes(m.architecture));
}

}  // namespace

int64_t ExpertModel::expert_bytes(WeightFormat f) const {
  const int64_t weights = 3 * width() * inter;
  const auto groups = [](int64_t cols) { return (cols + 127) / 128; };
  if (f == WeightFormat::bf16) return 2 * weights;
  if (f == WeightFormat::mxfp4) return weights / 2 + weights / 32;
  return weights + 4 * (2 * inter * groups(width()) + width() * groups(inter));
}

ExpertModel expert_model_of(const ModelConfig& c) {
  ExpertModel m{.name = c.name,
                .architecture = c.architecture,
                .layers = c.layers - c.dense_layers,
                .hidden = c.hidden,
                .experts = c.experts,
                .topk = c.experts_per_token,
                .inter = c.moe_intermediate,
                .groups = c.expert_groups,
                .keep = c.limited_groups,
                .scale = c.routed_scale,
                .shared_inter = c.shared_experts * c.moe_intermediate,
                .scale_ue8m0 = c.scale_ue8m0,
                .rms_epsilon = c.rms_epsilon,
                .assumed = {}};
  if (m.experts > kMostRouted || m.topk < 1 || m.topk > kMostChosen || m.inter < 1 ||
      m.hidden % 32 != 0 || m.inter % 32 != 0 || m.experts % m.groups != 0)
    throw UserError("the experts of " + m.name + " cannot be planned: up to " +
                    std::to_string(kMostRouted) + " experts, 1 to " + std::to_string(kMostChosen) +
                    " a token, widths of a multiple of 32; --experts off leaves them out");
  note(m, "routed experts", "MXFP4, blocks of 32 along the input, low nibble first",
       "the study's premise; the checkpoint has FP8");
  note(m, "expert weights", "normalised over the chosen", "operators.md section 5");
  return m;
}

ExpertModel read_expert_model(const std::string& path) {
  const auto located = configs::locate(path, "models", ".json");
  return read_expert_model_text(configs::read_file(located.path), located.shown);
}

ExpertModel read_expert_model_text(const std::string& text, const std::string& name) {
  return read_node(configs::load_json_text(text, name), model_name(name));
}

}  // namespace daybreak::kernels
