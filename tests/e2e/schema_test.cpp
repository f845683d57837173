// Schemas for editors say what the readers take.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>

#include <nlohmann/json.hpp>

#include "tests/e2e/program.hpp"

namespace daybreak::tests {
namespace {

using Json = nlohmann::ordered_json;

Json schema(const std::string& what) {
  const auto run = run_program({"schema", what});
  EXPECT_EQ(run.code, 0) << run.error;
  return Json::parse(run.out);
}

TEST(Schema, ModelRequiresWhatTheReaderRequires) {
  const Json whole = schema("model");
  Json wanted = whole["required"];
  const Json model = Json::parse(read_text(DAYBREAK_SOURCE "/configs/models/deepseek-v3.2.json"));
  for (const auto& [key, needs] : whole["dependentRequired"].items())
    if (model.contains(key)) wanted.insert(wanted.end(), needs.begin(), needs.end());
  const Folder folder;
  const auto refused = [&](const std::string& key) {
    Json without = model;
    without.erase(key);
    const auto run = run_program({"day0", "--model", folder.file("m.json", without.dump()),
                                  "--context", "64", "--values", "steering"});
    return run.code == 2 && run.error.find(key) != std::string::npos;
  };
  for (const auto& [key, value] : model.items()) {
    const bool required = std::ranges::find(wanted, Json(key)) != wanted.end();
    EXPECT_EQ(refused(key), required) << key;
  }
  for (const auto& key : wanted) EXPECT_TRUE(model.contains(key)) << key;
}

TEST(Schema, SweepHasTheKeysThatTheReaderLists) {
  const Json top = schema("sweep");
  const Folder folder;
  const auto allowed_in = [&](const std::string& text) {
    const auto run = run_program({"sweep", folder.file("s.yaml", text), "--dry-run"});
    EXPECT_EQ(run.code, 2);
    std::set<std::string> keys;
    const std::regex word("'?([a-z0-9_]+)'?(, | or |$|\\n|;)");
    const std::string list = run.error.substr(run.error.find("allowed are ") + 12);
    for (std::sregex_iterator at(list.begin(), list.end(), word), end; at != end; ++at)
      keys.insert((*at)[1]);
    return keys;
  };
  const auto keys_of = [](const Json& node) {
    std::set<std::string> keys;
    for (const auto& [key, value] : node["properties"].items()) keys.insert(key);
    return keys;
  };
  const std::string head = "title: t\nchip: mx-dma\n";
  const std::string work = "workloads: [{name: w, words: [run, topk]}]\n";
  const std::string axes = "axes: [{name: a, knob: cores, list: [1]}]\n";
  EXPECT_EQ(allowed_in(head + axes + work + "zzqqzz: 1\n"), keys_of(top));
  const Json& axis = top["properties"]["axes"]["items"];
  EXPECT_EQ(allowed_in(head + "axes: [{name: a, knob: cores, zzqqzz: 1}]\n" + work), keys_of(axis));
  EXPECT_EQ(allowed_in(head + axes + "workloads: [{name: w, words: [run, topk], zzqqzz: 1}]\n"),
            keys_of(top["properties"]["workloads"]["items"]));
  EXPECT_EQ(allowed_in(head + axes + work + "random: {points: 1, zzqqzz: 1}\n"),
            keys_of(top["properties"]["random"]));
}

// Every word of the shipped sweeps matches the schema of its kernel, and a word with a typing error does not.
TEST(Schema, WorkloadKnowsTheWordsOfEveryKernel) {
  const Json kernels = schema("workload")["properties"]["words"]["oneOf"];
  const auto fits = [&](const std::string& kernel, const std::string& word) {
    for (const auto& one : kernels) {
      if (one["prefixItems"].size() < 2 || one["prefixItems"][1]["const"] != kernel) continue;
      for (const auto& form : one["items"]["anyOf"])
        if (form.contains("enum")
                ? std::ranges::find(form["enum"], Json(word)) != form["enum"].end()
                : std::regex_search(word, std::regex(form["pattern"].get<std::string>())))
          return true;
    }
    return false;
  };
  for (const char* word : {"tokens=64", "page=16", "ring=3", "format=fp8", "--values", "steering"})
    EXPECT_TRUE(fits("sparse_mla", word)) << word;
  for (const char* word : {"tokens=many", "pages=16", "format=fp9", "lengths=1,2"})
    EXPECT_FALSE(fits("sparse_mla", word)) << word;
  EXPECT_TRUE(fits("dsa_prefill", "lengths=63,2048"));
  EXPECT_TRUE(fits("moe", "model=gpt-oss-120b"));
  EXPECT_GE(kernels.size(), 13u);
}

}  // namespace
}  // namespace daybreak::tests
