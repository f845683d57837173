#include "kernels/runtime/model/model.hpp"

#include <cmath>

#include "configs/reader/loader.hpp"
#include "configs/reader/words.hpp"
#include "kernels/runtime/model/forms.hpp"

namespace daybreak::kernels {
namespace {

using configs::Node;

// 0.1 m ln(factor) + 1, the magnitude of YaRN (operators.md section 1).
double yarn_magnitude(double factor, double mscale) {
  return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

ModelConfig read_node(const Node& root, const std::string& name) {
  if (!root.is_map()) root.fail("a model's config.json is an object of keys");
  ModelConfig model;
  if (!root.has("model_type") && root.has("dim") && root.has("n_layers")) {
    model = read_inference_form(root);
  } else {
    model = read_published_form(root);
  }
  model.name = name;
  model.assumed.push_back({"index-key LayerNorm epsilon",
                           configs::number_text(model.indexer.norm_epsilon),
                           "operators.md section 2"});
  model.assumed.push_back({"kv record", "656 bytes (E4M3 latent, fp32 scales, BF16 rope)",
                           "operators.md section 4; no config states it"});
  model.assumed.push_back({"kv page", std::to_string(model.kv_page_tokens) + " tokens",
                           "operators.md section 4, serving page size"});
  model.assumed.push_back({"index-key page",
                           std::to_string(model.index_page_tokens) +
                               " tokens, 8448 bytes at 128 codes and one scale each",
                           "operators.md section 3"});
  return model;
}

}  // namespace

// "dir/deepseek-ai--DeepSeek-V3.2_config.json" -> "deepseek-ai--DeepSeek-V3.2".
std::string model_name(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  if (name.ends_with(".json")) name.resize(name.size() - 5);
  if (name.ends_with("_config")) name.resize(name.size() - 7);
  if (name == "config") {  // ".../DeepSeek-V3.2/config.json" is named by its folder
    const std::string folder = path.substr(0, path.size() - std::min(path.size(), name.size() + 6));
    const std::string last = folder.substr(folder.find_last_of('/') + 1);
    if (!last.empty() && last != "." && last != "..") name = last;
  }
  return name;
}

double ModelConfig::softmax_scale() const {
  const double scale = 1.0 / std::sqrt(double(nope_dim + rope_dim));
  if (!rope.yarn || rope.mscale_all_dim == 0) return scale;
  const double magnitude = yarn_magnitude(rope.factor, rope.mscale_all_dim);
  return scale * magnitude * magnitude;
}

double ModelConfig::rope_magnitude() const {
  if (!rope.yarn) return 1;
  return yarn_magnitude(rope.factor, rope.mscale) /
         yarn_magnitude(rope.factor, rope.mscale_all_dim);
}

ModelConfig read_model(const std::string& path) {
  const auto located = configs::locate(path, "models", ".json");
  const std::string text = configs::read_file(located.path);
  return read_node(configs::load_json_text(text, located.shown), model_name(located.shown));
}

ModelConfig read_model_text(const std::string& text, const std::string& name) {
  return read_node(configs::load_json_text(text, name), model_name(name));
}

}  // namespace daybreak::kernels
