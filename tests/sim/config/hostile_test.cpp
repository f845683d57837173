// Chip descriptions that cannot be used: one sentence each, with its place.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "configs/reader/loader.hpp"
#include "sim/chip/config_load.hpp"
#include "sim/chip/schema.hpp"
#include "tests/configs/errors_of.hpp"
#include "tests/configs/mutate.hpp"

namespace daybreak::sim {
namespace {

std::string refusal(const std::string& text) {
  return error_of([&] { load_chip_text(text, "chip.yaml"); });
}
std::string set_refusal(const std::string& setting) {
  ChipConfig chip;
  return error_of([&] { apply_set(chip, setting, "--set " + setting); });
}

TEST(HostileChips, UnknownKeysNameTheNearest) {
  EXPECT_EQ(
      refusal("cores: 4\nclok: 1\n"),
      "chip.yaml:2:1: unknown key 'clok' in 'chip'; allowed are extends, about, cores, clock, core, "
      "l2, noc, hbm, scheduler or host; did you mean 'clock'?");
  EXPECT_EQ(refusal("core:\n  dma:\n    tlb: {waies: 4}\n").substr(0, 60),
            "chip.yaml:3:11: unknown key 'waies' in 'chip.core.dma.tlb'; ");
  EXPECT_NE(refusal("core: {dma: {tlb: {waies: 4}}}").find("; did you mean 'ways'?"),
            std::string::npos);
  EXPECT_NE(refusal("outstanding: 4").find("did you mean 'chip.core.dma.outstanding'?"),
            std::string::npos);
  EXPECT_NE(refusal("hbm: {prest: hbm2_2000}").find("did you mean 'preset'?"), std::string::npos);
  EXPECT_NE(refusal("cores: {valu: 3}").find("did you mean 'value'?"), std::string::npos);
  EXPECT_EQ(
      set_refusal("chip.core.dma.outstandin=32"),
      "--set chip.core.dma.outstandin=32: there is no knob 'chip.core.dma.outstandin'; did you mean "
      "'chip.core.dma.outstanding'?");
}

TEST(HostileChips, WrongUnitsAndWords) {
  EXPECT_EQ(
      refusal("clock: 1.65 KB\n"),
      "chip.yaml:1:8: 'chip.clock' is a frequency in GHz; 'KB' is the wrong unit, allowed are MHz or GHz");
  EXPECT_EQ(
      refusal("clock: 1.65 Ghz\n"),
      "chip.yaml:1:8: 'chip.clock' is a frequency in GHz; 'Ghz' is the wrong unit, allowed are MHz or "
      "GHz; did you mean 'GHz'?");
  EXPECT_EQ(
      refusal("cores: 8 GHz\n"),
      "chip.yaml:1:8: 'chip.cores' must be a whole number from 1 to 1024 without a unit; got '8 GHz'");
  EXPECT_EQ(refusal("core:\n  sort: {method: bubble}\n"),
            "chip.yaml:2:18: 'chip.core.sort.method' must be merge or histogram; got 'bubble'");
  EXPECT_EQ(refusal("core: {matrix: {fp8: 1}}\n"),
            "chip.yaml:1:22: 'chip.core.matrix.fp8' must be true or false; got '1'");
  EXPECT_EQ(
      refusal("hbm: {preset: hbm9}\n"),
      "chip.yaml:1:15: 'chip.hbm.preset' must be hbm2_2000, hbm2e_3200, hbm3_6400 or hbm3e_h200; got "
      "'hbm9'");
  EXPECT_EQ(refusal("core: 5\n"), "chip.yaml:1:7: 'chip.core' must be a map of knobs");
  EXPECT_EQ(refusal("cores: [1]\n"), "chip.yaml:1:8: 'cores' must be a single value, not a list");
  EXPECT_EQ(refusal("cores:\n"), "chip.yaml:1:1: 'cores' must be a single value, not nothing");
}

TEST(HostileChips, SizesOutOfRange) {
  for (const char* bad :
       {"0", "-3", "1e30", "nan", "inf", "4097", "2.5", "''", "0x10", "1_000", "three"})
    EXPECT_TRUE(is_positioned_sentence(refusal("cores: " + std::string(bad)), "chip.yaml")) << bad;
  EXPECT_EQ(
      refusal("l2: {capacity: -1 MB}\n"),
      "chip.yaml:1:16: 'chip.l2.capacity' must be a whole number from 1 to 65536 MB; got '-1 MB'");
  EXPECT_EQ(refusal("hbm: {banks: 3000}\n"),
            "chip.yaml:1:14: 'chip.hbm.banks' must be a whole number from 1 to 16; got '3000'");
  EXPECT_EQ(set_refusal("cores=0"),
            "--set cores=0: 'chip.cores' must be a whole number from 1 to 1024; got '0'");
}

TEST(HostileChips, RulesBetweenKnobsBlameTheStatedOne) {
  EXPECT_EQ(
      refusal("hbm: {bank_groups: 16, banks: 16, stack_ids: 8}\n"),
      "chip.yaml:1:31: a pseudo-channel may have up to 256 banks; 16 groups of 16 banks with 8 stack "
      "ids make 2048");
  EXPECT_EQ(
      refusal("hbm:\n  rows: 32768\n"),
      "chip.yaml:2:9: channels, banks and rows of a stack hold 8 GB, but its capacity is 16 GB");
  EXPECT_EQ(
      refusal("core:\n  scratch: {operand: 4 KB}\n"),
      "chip.yaml:2:22: the operand scratchpad of 4 KB is smaller than one tile: the operand latches "
      "take 64 + 64 KB");
  EXPECT_EQ(
      refusal("core: {matrix: {m: 256, n: 256}, scratch: {accumulator: 1}}\n"),
      "chip.yaml:1:57: the accumulator of 1 KB is smaller than one tile: one product takes 262144 bytes");
  EXPECT_EQ(
      refusal("core: {scratch: {vector: 1 KB}}\n"),
      "chip.yaml:1:26: the vector scratchpad of 1 KB is smaller than one tile: two operands and a "
      "result of one cycle take 1536 bytes");
  EXPECT_EQ(refusal("l2: {ways: 15}\n").substr(0, 60),
            "chip.yaml:1:12: the capacity of 128 MB is no whole number of");
  EXPECT_EQ(
      refusal("l2: {line: 500}\n"),
      "chip.yaml:1:12: 'chip.l2.line' must be a power of two; got 500, the nearest are 256 and 512");
  EXPECT_EQ(
      refusal("core: {dma: {tlb: {entries: 10}}}\n"),
      "chip.yaml:1:29: 'chip.core.dma.tlb.entries' (10) must be a multiple of 'chip.core.dma.tlb.ways' "
      "(4)");
  EXPECT_EQ(refusal("hbm: {refi: 100}\n").substr(0, 35), "chip.yaml:1:13: a refresh takes 160");
  EXPECT_EQ(set_refusal("hbm.rows=1024").substr(0, 40), "--set hbm.rows=1024: channels, banks and");
  ChipConfig chip;
  EXPECT_NE(error_of([&] { apply_set(chip, "hbm.rows=1024", "--set"); }), "");
  EXPECT_EQ(chip.hbm.rows, 65536);  // left as it was
}

TEST(HostileChips, ExtendsIsFollowedWithCare) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "daybreak_extends";
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  };
  const std::string a = write("a.yaml", "extends: b.yaml\n"),
                    b = write("b.yaml", "extends: ./a.yaml\n");
  EXPECT_NE(error_of([&] { load_chip(a); }).find("leads back to this file"), std::string::npos)
      << error_of([&] { load_chip(a); });
  write("base.yaml", "extends: davinci-like-2\ncores: 10\n");
  const std::string c = write("c.yaml", "extends: base.yaml\nnoc: {latency: 9}\n");
  const ChipConfig chip = load_chip(c);
  EXPECT_EQ(chip.cores, 10);
  EXPECT_EQ(chip.noc.latency, 9);
  EXPECT_EQ(chip.l2.capacity_mb, 192);
  EXPECT_EQ(chip.name, "c");
  const std::string d = write("d.yaml", "\nextends: nowhere.yaml\n");
  EXPECT_NE(error_of([&] { load_chip(d); }).find("cannot be read"), std::string::npos);
  EXPECT_EQ(refusal("extends: mx-dna\n").substr(0, 60),
            "chip.yaml:1:10: 'mx-dna' is neither a preset in configs/chip");
  std::filesystem::remove_all(folder);
}

TEST(HostileChips, MissingFilesAndHugeOnes) {
  EXPECT_EQ(error_of([] { load_chip("none.yaml"); }), "none.yaml: cannot be read: no such file");
  EXPECT_EQ(refusal("- 1\n").substr(0, 30), "chip.yaml:1:1: a chip descript");
  EXPECT_TRUE(is_positioned_sentence(refusal(std::string(10'000'000, '[')), "chip.yaml"));
  EXPECT_TRUE(is_positioned_sentence(refusal(""), "chip.yaml"));
}

// Random damage to the two presets: a chip that passes the rules, or one sentence.
TEST(HostileChips, DamagedPresetsNeverDoWorseThanASentence) {
  std::mt19937_64 random(5);
  const std::vector<std::string> words = {
      "0",  "-1", "1e9", "9999999999999999999", " KB", " ns", "true", "[", "{", "}", ":",
      "\n", "  ", "#",   "preset: hbm2_2000\n", "'",   "null"};
  int accepted = 0, refused = 0;
  for (const auto& name : {"mx-dma", "davinci-like-2"}) {
    const std::string text = configs::read_file(configs::locate(name, "chips", ".yaml").path);
    for (int i = 0; i < 400; ++i) {
      const std::string damaged = mutate(text, random, words);
      const std::string message = refusal(damaged);
      ++(message.empty() ? accepted : refused);
      if (message.empty()) {
        load_chip_text(damaged, "chip.yaml").capabilities();
      } else {
        EXPECT_TRUE(is_positioned_sentence(message, "chip.yaml")) << message;
      }
    }
  }
  EXPECT_GT(accepted, 15);
  EXPECT_GT(refused, 150);
}

}  // namespace
}  // namespace daybreak::sim
