#include "kernels/runtime/model/experts.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <tuple>

#include "configs/reader/errors.hpp"

namespace daybreak::kernels {
namespace {

std::string published(const std::string& name) {
  const char* data = std::getenv("DAYBREAK_DATA");
  return (data ? std::string(data) : std::string(DAYBREAK_SOURCE) + "/../shared") + "/models/" +
         name;
}

ExpertModel read_or_skip(const std::string& name) {
  const std::string path = published(name);
  return std::filesystem::exists(path) ? read_expert_model(path) : ExpertModel{};
}

TEST(ExpertModels, DeepSeek) {
  const auto m = read_or_skip("deepseek-ai--DeepSeek-V3.2_config.json");
  if (m.name.empty()) GTEST_SKIP() << "third-party models are absent";
  EXPECT_EQ(std::tuple(m.hidden, m.width(), m.inter, m.experts, m.topk),
            std::tuple(7168, 7168, 2048, 256, 8));
  EXPECT_EQ(std::tuple(m.groups, m.keep, m.shared_inter), std::tuple(8, 4, 2048));
  EXPECT_EQ(m.scale, 2.5);
  EXPECT_FALSE(m.softmax || m.biased || m.interleaved);
  EXPECT_EQ(m.expert_bytes(WeightFormat::mxfp4), 23396352);  // 23.40 MB, operators.md section 1
}

TEST(ExpertModels, KimiK3) {
  const auto m = read_or_skip("moonshotai--Kimi-K3_config.json");
  if (m.name.empty()) GTEST_SKIP() << "third-party models are absent";
  EXPECT_EQ(std::tuple(m.hidden, m.width(), m.inter, m.experts, m.topk),
            std::tuple(7168, 3584, 3072, 896, 16));
  EXPECT_EQ(std::tuple(m.gate, m.factor, m.limit), std::tuple(GateForm::situ, 4.0, 25.0));
  EXPECT_EQ(m.shared_inter, 2 * 3072);
  EXPECT_EQ(m.expert_bytes(WeightFormat::mxfp4), 17547264);
}

TEST(ExpertModels, GptOss) {
  const auto m = read_or_skip("openai--gpt-oss-120b_config.json");
  if (m.name.empty()) GTEST_SKIP() << "third-party models are absent";
  EXPECT_EQ(std::tuple(m.width(), m.inter, m.experts, m.topk), std::tuple(2880, 2880, 128, 4));
  EXPECT_TRUE(m.softmax && m.biased && m.interleaved);
  EXPECT_EQ(std::tuple(m.gate, m.limit, m.shared_inter), std::tuple(GateForm::swiglu, 7.0, 0));
  EXPECT_EQ(m.expert_bytes(WeightFormat::mxfp4), 13219200);
}

// Our own facts files say what the published ones say.
TEST(ExpertModels, OurFactsFiles) {
  for (const auto& [ours, theirs] :
       {std::pair{"deepseek-v3.2", "deepseek-ai--DeepSeek-V3.2_config.json"},
        {"kimi-k3", "moonshotai--Kimi-K3_config.json"},
        {"gpt-oss-120b", "openai--gpt-oss-120b_config.json"}}) {
    const auto a =
        read_expert_model(std::string(DAYBREAK_SOURCE) + "/configs/models/" + ours + ".json");
    const auto b = read_or_skip(theirs);
    if (b.name.empty()) GTEST_SKIP() << "third-party models are absent";
    const auto facts = [](const ExpertModel& m) {
      return std::tuple(m.layers, m.hidden, m.latent, m.experts, m.topk, m.inter, m.groups, m.keep,
                        m.softmax, m.normalise, m.scale, m.gate, m.factor, m.limit, m.interleaved,
                        m.biased, m.shared_inter, m.rms_epsilon);
    };
    EXPECT_EQ(facts(a), facts(b)) << ours;
  }
}

std::string sentence(const std::string& text) {
  try {
    read_expert_model_text(text, "m.json");
  } catch (const UserError& e) { return e.what(); }
  return {};
}

TEST(ExpertModels, Hostile) {
  EXPECT_NE(sentence(R"({"model_type": "llama"})").find("m.json:1:16"), std::string::npos);
  EXPECT_NE(sentence(R"({"model_type": "llama"})").find("gpt_oss"), std::string::npos);
  EXPECT_NE(sentence(R"({"model_type": "gpt_oss"})").find("num_hidden_layers"), std::string::npos);
  const std::string good =
      R"({"model_type": "gpt_oss", "num_hidden_layers": 2, "hidden_size": 64, "num_local_experts": 8,
          "num_experts_per_tok": 4, "intermediate_size": 96, "rms_norm_eps": 1e-5, "swiglu_limit": 7})";
  EXPECT_EQ(sentence(good), "");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string s = good;
    return s.replace(s.find(from), from.size(), to);
  };
  EXPECT_NE(sentence(with("_tok\": 4", "_tok\": 9")).find("must not exceed"), std::string::npos);
  EXPECT_NE(sentence(with("_experts\": 8", "_experts\": 4096")).find("num_local_experts"),
            std::string::npos);
  EXPECT_NE(sentence(with("\"hidden_size\": 64", "\"hidden_size\": 65")).find("multiples of 32"),
            std::string::npos);
  EXPECT_NE(sentence(with("\"swiglu_limit\": 7", "\"swiglu_limit\": \"x\"")).find("swiglu_limit"),
            std::string::npos);
}

}  // namespace
}  // namespace daybreak::kernels
