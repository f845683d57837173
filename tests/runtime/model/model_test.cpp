// The model reader on our own facts file, on published files where they are, and on damaged ones.
#include "kernels/runtime/model/model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "configs/reader/loader.hpp"
#include "tests/configs/errors_of.hpp"
#include "tests/configs/mutate.hpp"

namespace daybreak::kernels {
namespace {

std::filesystem::path data_folder() {
  if (const char* given = std::getenv("DAYBREAK_DATA"); given && *given) return given;
  return std::filesystem::path(DAYBREAK_SOURCE).parent_path() / "shared";
}

std::string our_text() {
  return configs::read_file(configs::locate("deepseek-v3.2", "models", ".json").path);
}
std::string refusal(const std::string& text) {
  return error_of([&] { read_model_text(text, "m.json"); });
}
// Our file with one key changed, or taken out.
std::string with(const std::string& key, const nlohmann::ordered_json& value) {
  auto json = nlohmann::ordered_json::parse(our_text());
  json[key] = value;
  return json.dump(1);
}
std::string without(const std::string& key) {
  auto json = nlohmann::ordered_json::parse(our_text());
  json.erase(key);
  return json.dump(1);
}
bool assumes(const ModelConfig& model, const std::string& what) {
  return std::any_of(model.assumed.begin(), model.assumed.end(),
                     [&](const Assumption& a) { return a.what == what && !a.source.empty(); });
}

void expect_deepseek(const ModelConfig& m) {
  EXPECT_EQ(m.architecture, "deepseek_v32");
  EXPECT_EQ(m.layers, 61);
  EXPECT_EQ(m.hidden, 7168);
  EXPECT_EQ(m.heads, 128);
  EXPECT_EQ(m.q_lora, 1536);
  EXPECT_EQ(m.kv_lora, 512);
  EXPECT_EQ(m.nope_dim, 128);
  EXPECT_EQ(m.rope_dim, 64);
  EXPECT_EQ(m.value_dim, 128);
  EXPECT_EQ(m.max_positions, 163840);
  EXPECT_EQ(m.rms_epsilon, 1e-6);
  EXPECT_EQ(m.indexer.heads, 64);
  EXPECT_EQ(m.indexer.dim, 128);
  EXPECT_EQ(m.indexer.topk, 2048);
  EXPECT_FALSE(m.indexer.interleaved);
  EXPECT_TRUE(m.rope_interleaved);
  EXPECT_TRUE(m.rope.yarn);
  EXPECT_EQ(m.rope.theta, 10000);
  EXPECT_EQ(m.rope.factor, 40);
  EXPECT_EQ(m.rope.original_positions, 4096);
  EXPECT_EQ(m.rope.beta_fast, 32);
  EXPECT_NEAR(m.softmax_scale(), 0.1352337788608801, 1e-15);  // operators.md section 1
  EXPECT_EQ(m.rope_magnitude(), 1);
  EXPECT_EQ(m.experts, 256);
  EXPECT_EQ(m.experts_per_token, 8);
  EXPECT_EQ(m.dense_layers, 3);
  EXPECT_EQ(m.moe_intermediate, 2048);
  EXPECT_EQ(m.expert_groups, 8);
  EXPECT_EQ(m.limited_groups, 4);
  EXPECT_EQ(m.routed_scale, 2.5);
  for (const char* what : {"kv record", "kv page", "index-key page", "indexer RoPE layout"})
    EXPECT_TRUE(assumes(m, what)) << what;
}

void expect_glm(const ModelConfig& m) {
  EXPECT_EQ(m.architecture, "glm_moe_dsa");
  EXPECT_EQ(m.layers, 78);
  EXPECT_EQ(m.hidden, 6144);
  EXPECT_EQ(m.heads, 64);
  EXPECT_EQ(m.q_lora, 2048);
  EXPECT_EQ(m.nope_dim, 192);
  EXPECT_EQ(m.value_dim, 256);
  EXPECT_EQ(m.indexer.heads, 32);
  EXPECT_TRUE(m.indexer.interleaved);
  EXPECT_FALSE(m.rope.yarn);
  EXPECT_EQ(m.rope.theta, 1e6);
  EXPECT_EQ(m.rms_epsilon, 1e-5);
  EXPECT_EQ(m.softmax_scale(), 0.0625);  // 256^-1/2: head_dim 64 is not it
  EXPECT_EQ(m.max_positions, 202752);
  EXPECT_FALSE(assumes(m, "indexer RoPE layout"));
  EXPECT_TRUE(assumes(m, "activation scales"));
}

TEST(Models, OurFactsFileIsDeepSeek) {
  const ModelConfig model = read_model("deepseek-v3.2");
  expect_deepseek(model);
  EXPECT_EQ(model.name, "deepseek-v3.2");
}

TEST(Models, PublishedFilesRead) {
  const auto folder = data_folder() / "models";
  if (!std::filesystem::is_directory(folder))
    GTEST_SKIP() << "no published model files (DAYBREAK_DATA)";
  const auto read = [&](const std::string& name) { return read_model((folder / name).string()); };
  expect_deepseek(read("deepseek-ai--DeepSeek-V3.2_config.json"));
  expect_deepseek(read("nvidia--DeepSeek-V3.2-NVFP4_config.json"));
  const ModelConfig demo = read("deepseek-ai--DeepSeek-V3.2-Exp_inference_config_671B_v3.2.json");
  expect_deepseek(demo);
  EXPECT_TRUE(assumes(demo, "max positions"));
  expect_glm(read("zai-org--GLM-5.1_config.json"));
  expect_glm(read("zai-org--GLM-5_config.json"));
  EXPECT_EQ(read("zai-org--GLM-5.1_config.json").name, "zai-org--GLM-5.1");
}

TEST(Models, OthersAreRefusedWithTheReason) {
  const auto folder = data_folder() / "models";
  if (!std::filesystem::is_directory(folder))
    GTEST_SKIP() << "no published model files (DAYBREAK_DATA)";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".json" || path.find("DeepSeek-V3.2") != std::string::npos ||
        path.find("GLM-5") != std::string::npos)
      continue;
    const std::string message = error_of([&] { read_model(path); });
    EXPECT_TRUE(is_positioned_sentence(message, path)) << message;
    EXPECT_TRUE(message.find("no sparse-attention indexer") != std::string::npos ||
                message.find("'model_type' must be") != std::string::npos)
        << message;
  }
}

TEST(Models, EveryNeededKeyIsAskedFor) {
  for (const char* key :
       {"num_hidden_layers", "hidden_size", "num_attention_heads", "q_lora_rank", "kv_lora_rank",
        "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "max_position_embeddings",
        "rms_norm_eps", "index_n_heads", "index_head_dim", "index_topk", "model_type"}) {
    EXPECT_EQ(refusal(without(key)), "m.json:1:1: the key '" + std::string(key) + "' is missing");
    for (const nlohmann::ordered_json& bad :
         {nlohmann::ordered_json("128"), nlohmann::ordered_json(-1), nlohmann::ordered_json(1e30),
          nlohmann::ordered_json(nullptr), nlohmann::ordered_json::array(),
          nlohmann::ordered_json(true)}) {
      const std::string message = refusal(with(key, bad));
      EXPECT_TRUE(is_positioned_sentence(message, "m.json"))
          << key << " " << bad << " -> " << message;
    }
  }
  EXPECT_EQ(refusal(with("num_attention_heads", 0)),
            "m.json:10:25: 'num_attention_heads' must be a whole number from 1 to 4096; got '0'");
  EXPECT_EQ(
      refusal(with("num_attention_heads", "128")),
      "m.json:10:25: 'num_attention_heads' must be a whole number from 1 to 4096; got the text '128'");
  auto misspelt = nlohmann::ordered_json::parse(without("hidden_size"));
  misspelt["hiden_size"] = 7168;
  EXPECT_NE(refusal(misspelt.dump(1))
                .find("m.json:43:2: the key 'hidden_size' is missing; did you mean it by "
                      "'hiden_size'?"),
            std::string::npos)
      << refusal(misspelt.dump(1));
  EXPECT_TRUE(assumes(read_model_text(without("rope_theta"), "m.json"), "rope_theta"));
}

TEST(Models, ShapesWithoutKernelsAndContradictionsAreRefused) {
  EXPECT_NE(refusal(with("kv_lora_rank", 256)).find("'kv_lora_rank' must be 512"),
            std::string::npos);
  EXPECT_NE(refusal(with("index_topk", 1024)).find("'index_topk' must be 2048"), std::string::npos);
  EXPECT_NE(refusal(with("qk_head_dim", 64)).find("= 192; got '64'"), std::string::npos);
  EXPECT_NE(refusal(with("num_experts_per_tok", 500)).find("must not exceed"), std::string::npos);
  EXPECT_NE(refusal(with("quantization_config", {{"scale_fmt", "weird"}})).find("must be ue8m0"),
            std::string::npos);
  EXPECT_NE(
      refusal(with("rope_scaling", {{"type", "linear"}, {"factor", 2}})).find("default or yarn"),
      std::string::npos);
  auto json = nlohmann::json::parse(our_text());
  for (const char* key : {"index_n_heads", "index_head_dim", "index_topk"}) json.erase(key);
  EXPECT_NE(refusal(json.dump()).find("no sparse-attention indexer"), std::string::npos);
  EXPECT_TRUE(assumes(read_model_text(with("index_topk_freq", 4), "m.json"), "index_topk_freq"));
}

TEST(Models, YarnScalesFollowTheirFormulas) {
  const auto rope = [](double mscale, double all) {
    nlohmann::ordered_json scaling = {{"type", "yarn"},
                                      {"factor", 40},
                                      {"original_max_position_embeddings", 4096},
                                      {"mscale", mscale},
                                      {"mscale_all_dim", all}};
    return read_model_text(with("rope_scaling", scaling), "m.json");
  };
  const double plain = 1 / std::sqrt(192.0), magnitude = 0.1 * std::log(40.0) + 1;
  EXPECT_DOUBLE_EQ(rope(1, 0).softmax_scale(), plain);
  EXPECT_DOUBLE_EQ(rope(1, 0).rope_magnitude(), magnitude);
  EXPECT_DOUBLE_EQ(rope(1, 1).softmax_scale(), plain * magnitude * magnitude);
  EXPECT_DOUBLE_EQ(read_model_text(without("rope_scaling"), "m.json").softmax_scale(), plain);
  // The newer form of the same facts.
  auto json = nlohmann::ordered_json::parse(without("rope_scaling"));
  json["rope_parameters"] = {{"rope_type", "yarn"},
                             {"rope_theta", 5e4},
                             {"factor", 8},
                             {"original_max_position_embeddings", 8192}};
  const ModelConfig newer = read_model_text(json.dump(), "m.json");
  EXPECT_EQ(newer.rope.theta, 5e4);
  EXPECT_EQ(newer.rope.original_positions, 8192);
  EXPECT_TRUE(newer.rope.yarn);
}

TEST(Models, TruncatedDamagedAndHugeFilesNeverDoWorseThanASentence) {
  const std::string text = our_text();
  const size_t end = text.find_last_of('}');
  for (size_t length = 0; length <= end; ++length)
    EXPECT_TRUE(is_positioned_sentence(refusal(text.substr(0, length)), "m.json")) << length;
  EXPECT_TRUE(is_positioned_sentence(refusal(std::string(10'000'000, '[')), "m.json"));
  EXPECT_TRUE(is_positioned_sentence(refusal(std::string(7'000'000, '[')), "m.json"));
  std::mt19937_64 random(6);
  const std::vector<std::string> words = {
      "0",    "-",    "1e400",   "99999999999999999999",     "\"", "[", "{", "}", ",", ":",
      "null", "true", "\\ud800", "\"rope_parameters\": {},", "1.5"};
  int refused = 0;
  for (int i = 0; i < 2500; ++i) {
    const std::string message = refusal(mutate(text, random, words));
    if (message.empty()) continue;
    ++refused;
    EXPECT_TRUE(is_positioned_sentence(message, "m.json")) << message;
  }
  EXPECT_GT(refused, 800);
}

}  // namespace
}  // namespace daybreak::kernels
