// Input that cannot be used costs one sentence on standard error and exit code 2; nothing is written.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "tests/e2e/program.hpp"

namespace daybreak::tests {
namespace {

const std::string kModel = DAYBREAK_SOURCE "/configs/models/deepseek-v3.2.json";

void expect_refused(const std::vector<std::string>& words, const std::vector<std::string>& said) {
  const auto run = run_program(words);
  EXPECT_EQ(run.code, 2) << run.out << run.error;
  EXPECT_EQ(std::count(run.error.begin(), run.error.end(), '\n'), 1) << run.error;
  EXPECT_EQ(run.out, "");
  for (const auto& part : said)
    EXPECT_NE(run.error.find(part), std::string::npos) << part << "\n" << run.error;
}

TEST(Hostile, CommandLine) {
  expect_refused({"run", "sparse_mlaa"}, {"sparse_mla"});
  expect_refused({"run", "sparse_mla", "contxt=5"}, {"context"});
  expect_refused({"run", "sparse_mla", "context=-5"}, {"context"});
  expect_refused({"run", "sparse_mla", "context"}, {"key=value"});
  expect_refused({"run", "sparse_mla", "tokens=1", "tokens=2"}, {"twice"});
  expect_refused({"run", "dram", "patern=seq"}, {"pattern"});
  expect_refused({"run", "dram", "pattern=seqq"}, {"seq"});
  expect_refused({"run", "dram", "scope=stak"}, {"stack"});
  expect_refused({"run", "dram", "load=1.5x"}, {"curve"});
  expect_refused({"run", "dram", "dram=hbm9"}, {"hbm3_6400"});
  expect_refused({"day0", "--model", kModel, "--set", "chip.core.dma.outstandin=3"},
                 {"outstanding"});
  expect_refused({"day0", "--model", kModel, "--set", "chip.core.dma.outstanding=0"},
                 {"outstanding"});
  expect_refused({"day0", "--model", kModel, "--set", "chip.clock=3 KB"}, {"clock"});
  expect_refused({"day0", "--model", kModel, "--values", "ful"}, {"full"});
  expect_refused({"day0", "--model", kModel, "--index", "/nonexistent"}, {"--index"});
  expect_refused({"day0", "--model", kModel, "--phase", "prefil"}, {"decode"});
  expect_refused({"day0", "--model", "/nonexistent.json"}, {"/nonexistent.json"});
  expect_refused({"day0", "--model", kModel, "--chip", "mx-dam"}, {"mx-dma"});
  expect_refused({"day0", "--model", kModel, "--batch", "-1"}, {"batch"});
  expect_refused({"day0", "--model", kModel, "--nonsense"}, {"nonsense"});
  expect_refused({"nonsense"}, {"'nonsense' is not day0"});
  expect_refused({"stuy", "x"}, {"did you mean 'study'"});
  expect_refused({"run", "indexer", "--trace", "bogus"}, {"bogus", "instruction"});
  expect_refused({"run", "indexer", "--seed", "-1"}, {"from 0 on"});
  expect_refused({"run", "indexer", "--out", ""}, {"folder"});
  expect_refused({"run", "topk", "--index", "random"}, {"--index"});
  expect_refused({"run", "index_overhead", "method=task", "context=2047"}, {"2048", "2047"});
  expect_refused({"disasm", "nope"}, {"disasm nope"});
}

// A --set takes one value; what follows is the kernel's.
TEST(Hostile, WordsAfterASetting) {
  const auto run = run_program({"run", "index_table", "--set", "chip.cores=2", "context=100"});
  EXPECT_EQ(run.code, 0) << run.error;
}

// Results that nobody can read are no success.
TEST(Hostile, OutputThatCannotBeWritten) {
  const int status =
      std::system(DAYBREAK_PROGRAM " run indexer context=100 > /dev/full 2> /dev/null");
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST(Hostile, ChipFiles) {
  const Folder folder;
  auto chip = [&](const std::string& text, const std::vector<std::string>& said) {
    const auto file = folder.file("chip.yaml", text);
    auto parts = said;
    parts.push_back("chip.yaml:");
    expect_refused({"day0", "--model", kModel, "--context", "64", "--chip", file}, parts);
  };
  chip("cores: 4\ncor:\n  dma: {outstanding: 3}\n", {":2:", "core"});
  chip("core:\n  dma: {outstandng: 3}\n", {":2:", "outstanding"});
  chip("clock: 3 KB\n", {":1:", "GHz"});
  chip("cores: -4\n", {":1:"});
  chip("cores: 0\n", {":1:"});
  chip("hbm: {banks: 3000}\n", {":1:", "banks"});
  chip("core:\n  scratch: {operand: 1 KB}\n", {":2:", "operand"});
}

TEST(Hostile, ModelFiles) {
  const Folder folder;
  auto model = [&](const std::string& text) {
    expect_refused({"day0", "--model", folder.file("model.json", text)}, {"model.json"});
  };
  const std::string good = read_text(kModel);
  model("");
  model("{");
  model(good.substr(0, good.size() / 2));
  model(std::string(10 << 20, '['));
  model(std::string(1 << 20, '['));
  model("{\"model_type\": \"llama\"}");
  model("{\"model_type\": \"deepseek_v32\"}");
  std::string huge = good;
  const size_t at = huge.find("\"num_attention_heads\": ") + 23;
  model(huge.substr(0, at) + "99999999999999999999" + huge.substr(huge.find(',', at)));
  model(huge.substr(0, at) + "\"many\"" + huge.substr(huge.find(',', at)));
}

TEST(Hostile, ProgramFiles) {
  const Folder folder;
  const auto text = run_program({"disasm", "index_table", "context=4096"});
  ASSERT_EQ(text.code, 0) << text.error;
  const auto source = folder.file("task.s", text.out);
  const std::string binary = folder.path() + "/task.bin";
  ASSERT_EQ(run_program({"asm", source, "--to", binary}).code, 0);
  EXPECT_EQ(run_program({"disasm", binary}).out, text.out);
  std::string bytes = read_text(binary);
  for (size_t at = 8; at < bytes.size(); at += 37) {
    std::string flipped = bytes;
    flipped[at] = char(flipped[at] ^ 0x10);
    expect_refused({"disasm", folder.file("flipped.bin", flipped)}, {"flipped.bin"});
  }
  expect_refused({"asm", folder.file("bad.s", "program \"x\" task 0\ngathr to=\n"), "--to", binary},
                 {"bad.s:2", "gather"});
}

TEST(Hostile, NothingIsHalfWritten) {
  const Folder folder;
  const std::string out = folder.path() + "/out";
  EXPECT_EQ(run_program({"day0", "--model", kModel, "--index", "/nonexistent", "--out", out}).code,
            2);
  EXPECT_FALSE(std::filesystem::exists(out + "/record.json"));
  EXPECT_FALSE(std::filesystem::exists(out + "/trace.pftrace"));
}

}  // namespace
}  // namespace daybreak::tests
