// `run moe` from outside: values against the reference for three families in small, sources of routing,
// hand-over between layers, refusals.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "tests/e2e/program.hpp"

namespace daybreak::tests {
namespace {

// The shapes of the three families, small: 2880 = 22.5 groups becomes 320 = 2.5.
constexpr const char* kDeepseek = R"({"model_type": "deepseek_v3", "num_hidden_layers": 4,
  "first_k_dense_replace": 1, "hidden_size": 512, "n_routed_experts": 32, "num_experts_per_tok": 6,
  "n_shared_experts": 1, "moe_intermediate_size": 256, "n_group": 8, "topk_group": 3,
  "routed_scaling_factor": 2.5, "rms_norm_eps": 1e-6})";
constexpr const char* kGptOss =
    R"({"model_type": "gpt_oss", "num_hidden_layers": 4, "hidden_size": 320,
  "num_local_experts": 12, "num_experts_per_tok": 4, "intermediate_size": 320, "rms_norm_eps": 1e-5,
  "swiglu_limit": 7.0})";
constexpr const char* kKimi = R"({"model_type": "kimi_k3", "text_config": {"num_hidden_layers": 4,
  "hidden_size": 512, "num_experts": 40, "num_experts_per_token": 16, "num_shared_experts": 2,
  "moe_intermediate_size": 128, "routed_expert_hidden_size": 3584, "rms_norm_eps": 1e-5,
  "moe_router_activation_func": "sigmoid", "activation_situ_beta": 4.0,
  "activation_situ_linear_beta": 25.0}})";

struct Model {
  explicit Model(const char* text) : path(folder.file("config.json", text)) {}
  Outcome run(std::vector<std::string> words, std::vector<std::string> options = {}) const {
    words.insert(words.begin(), {"run", "moe", "model=" + path});
    words.insert(words.end(), options.begin(), options.end());
    return run_program(words);
  }
  // Lines that say cycles, of a run that must pass.
  std::vector<std::string> cycles(const std::vector<std::string>& words,
                                  std::vector<std::string> options) const {
    options.push_back("--json");
    const auto r = run(words, options);
    EXPECT_EQ(r.code, 0) << r.error << r.out;
    return lines_with(r.out, "cycles\"");
  }
  Folder folder;
  std::string path;
};

TEST(RunMoe, ValuesOfThreeFamiliesEqualTheReference) {
  for (const char* text : {kDeepseek, kGptOss, kKimi})
    for (const char* tokens : {"tokens=1", "tokens=37", "tokens=0"}) {
      const auto r = Model(text).run({tokens});
      EXPECT_EQ(r.code, 0) << text << tokens << r.error << r.out;
      EXPECT_TRUE(lines_with(r.out, "fail").empty()) << r.out;
      if (std::string(tokens) != "tokens=0") {
        EXPECT_FALSE(lines_with(r.out, "pass  routed experts").empty()) << r.out;
      }
    }
}

TEST(RunMoe, OtherFormatsAndAChipWithoutConversion) {
  for (const char* text : {kDeepseek, kGptOss})
    for (const char* format : {"format=fp8", "format=bf16"})
      EXPECT_EQ(Model(text).run({"tokens=9", format}).code, 0) << text << format;
  for (const char* text : {kDeepseek, kGptOss}) {
    const auto r = Model(text).run({"tokens=9"}, {"--chip", "davinci-like-2"});
    EXPECT_EQ(r.code, 0) << text << r.error << r.out;
  }
}

TEST(RunMoe, SourcesOfRouting) {
  const Model m(kDeepseek);
  const std::string file = m.folder.path() + "/routing.bin";
  const auto computed = m.cycles({"tokens=40"}, {"--record-routing", file});
  EXPECT_EQ(read_text(file).size(), 40u * 6 * 4);
  // A replay chooses the same experts; its list comes from memory, where the router's is in the L2.
  EXPECT_EQ(m.run({"tokens=40"}, {"--routing", file, "--record-routing", file + "2"}).code, 0);
  EXPECT_EQ(read_text(file + "2"), read_text(file));
  EXPECT_EQ(m.cycles({"tokens=40"}, {"--values", "steering"}), computed);
  for (const char* source : {"balanced", "power-law:1.2"})
    EXPECT_EQ(m.cycles({"tokens=40"}, {"--routing", source}),
              m.cycles({"tokens=40"}, {"--routing", source, "--values", "steering"}));
}

// Two layers over one workspace: the second converts into the slots of the first.
TEST(RunMoe, LayersShareTheWorkspace) {
  const Model m(kDeepseek);
  const auto two = m.run({"tokens=8", "layers=2"});
  EXPECT_EQ(two.code, 0) << two.error << two.out;
  EXPECT_EQ(lines_with(two.out, "pass  routed experts").size(), 2u);
}

// Converted weights wait for their slot where products bound the run, and the trace says so.
TEST(RunMoe, TheTraceShowsHandOvers) {
  const Model m(kDeepseek);
  const std::string out = m.folder.path() + "/out";
  ASSERT_EQ(m.run({"tokens=300", "layers=2"},
                  {"--out", out, "--set", "chip.core.matrix.k_fp8=4", "--values", "steering"})
                .code,
            0);
  const auto stalls = run_program({"trace", "stalls", out});
  EXPECT_EQ(stalls.code, 0) << stalls.error;
  EXPECT_FALSE(lines_with(stalls.out, "workspace hand-over").empty()) << stalls.out;
}

// Where converted weights lie is the chip's choice: the same values, and each place costs what it must.
TEST(RunMoe, WorkspaceInScratchL2OrHbm) {
  const Model m(kDeepseek);
  std::map<std::string, int64_t> cycles, bytes;
  for (const char* home : {"scratchpad", "l2", "hbm"}) {
    const auto r =
        m.run({"tokens=40"}, {"--set", std::string("chip.core.dma.workspace=") + home, "--json"});
    ASSERT_EQ(r.code, 0) << home << r.error << r.out;
    const auto record = nlohmann::json::parse(r.out);
    for (const auto& kernel : record["kernels"]) {
      if (!kernel["kernel"].get<std::string>().starts_with("experts_")) continue;
      cycles[home] += kernel["cycles"].get<int64_t>();
      bytes[home] += kernel["hbm_read_bytes"].get<int64_t>();
    }
  }
  EXPECT_LT(cycles["scratchpad"], cycles["l2"]);
  EXPECT_LT(cycles["l2"], cycles["hbm"]);
  // Each byte of MXFP4 is read as nearly two of FP8 once more.
  EXPECT_NEAR(double(bytes["l2"]), double(bytes["scratchpad"]), 0.02 * double(bytes["l2"]));
  EXPECT_GT(double(bytes["hbm"]), 2.5 * double(bytes["scratchpad"]));
  const auto r =
      m.run({"tokens=4"}, {"--chip", "davinci-like-2", "--set", "chip.core.dma.workspace=l2"});
  EXPECT_EQ(r.code, 2);
  EXPECT_NE(r.error.find("does not convert"), std::string::npos) << r.error;
}

TEST(RunMoe, Refusals) {
  const Model m(kDeepseek);
  const auto word = m.run({"tokens=4"}, {"--routing", "power-law:x"});
  EXPECT_EQ(word.code, 2);
  EXPECT_NE(word.error.find("needs a number"), std::string::npos) << word.error;
  const auto missing = m.run({"tokens=4"}, {"--routing", "nowhere.bin"});
  EXPECT_EQ(missing.code, 2);
  const std::string bad = m.folder.file("bad.bin", std::string(4 * 6 * 4, '\0'));
  const auto order = m.run({"tokens=4"}, {"--routing", bad});
  EXPECT_EQ(order.code, 2);
  EXPECT_NE(order.error.find("ascending"), std::string::npos) << order.error;
  EXPECT_EQ(m.run({"tokens=x"}).code, 2);
  EXPECT_EQ(m.run({"format=fp16"}).code, 2);
}

}  // namespace
}  // namespace daybreak::tests
