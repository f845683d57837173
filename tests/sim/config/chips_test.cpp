// The presets, the knob list and what is derived from it.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "configs/reader/loader.hpp"
#include "sim/chip/config_check.hpp"
#include "sim/chip/config_hbm.hpp"
#include "sim/chip/config_load.hpp"
#include "sim/chip/schema.hpp"
#include "tests/configs/errors_of.hpp"

namespace daybreak::sim {
namespace {

// (path, value) of every knob.
std::vector<std::pair<std::string, std::string>> values_of(ChipConfig chip) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& knob : list_knobs(chip)) out.emplace_back(knob.path, knob.text());
  return out;
}

TEST(Knobs, EachIsDocumentedAndItsDefaultIsInRange) {
  ChipConfig chip;
  std::set<std::string> seen;
  const std::set<std::string> units = {"GHz",     "B/cycle", "cycles", "ns",   "us",
                                       "B",       "KB",      "MB",     "GB",   "count",
                                       "1/cycle", "GB/s",    "ratio",  "flag", "word"};
  for (const auto& knob : list_knobs(chip)) {
    EXPECT_TRUE(seen.insert(knob.path).second) << knob.path;
    EXPECT_TRUE(units.count(knob.unit)) << knob.path << " " << knob.unit;
    EXPECT_GE(knob.sentence.size(), 8u) << knob.path;
    EXPECT_FALSE(knob.source.empty()) << knob.path;
    EXPECT_EQ(knob.default_text, knob.text()) << knob.path;
    if (knob.unit == "word") {
      EXPECT_GE(knob.allowed.size(), 1u);
      EXPECT_TRUE(std::count(knob.allowed.begin(), knob.allowed.end(), knob.default_text));
    } else if (knob.unit != "flag") {
      EXPECT_LT(knob.low, knob.high) << knob.path;
      EXPECT_GE(std::stod(knob.default_text), knob.low) << knob.path;
      EXPECT_LE(std::stod(knob.default_text), knob.high) << knob.path;
    }
  }
  EXPECT_GT(seen.size(), 100u);
}

TEST(Chips, MxDmaStatesEveryKnobAndEqualsTheDefaults) {
  const ChipConfig chip = load_chip("mx-dma");
  EXPECT_EQ(values_of(chip), values_of(ChipConfig()));
  EXPECT_EQ(chip.assumed, std::vector<std::string>());
  EXPECT_EQ(chip.name, "mx-dma");
}

// The datasheet's own sums.
TEST(Chips, MxDmaHasTheDatasheetsPeaks) {
  const ChipConfig chip = load_chip("mx-dma");
  EXPECT_NEAR(chip.flops(Format::bf16) / 1e12, 432.5, 0.1);
  EXPECT_NEAR(chip.flops(Format::e4m3) / 1e12, 865, 0.1);
  EXPECT_NEAR(chip.hbm_bytes_per_second() / 1e12, 1.6384, 1e-9);
  EXPECT_EQ(chip.hbm.stacks * chip.hbm.capacity_gb, 64);
  EXPECT_EQ(chip.period().value, 606061);
  const double l2 = double(chip.l2.slices * chip.l2.slice_bytes_per_cycle) * chip.clock_ghz * 1e9;
  EXPECT_NEAR(l2 / 1e12, 5.0, 0.05);
  EXPECT_THROW(chip.flops(Format::i32), InvariantError);
  const auto can = chip.capabilities();
  EXPECT_EQ(can.scratch[0].value, 512 * 1024);
  EXPECT_EQ(can.scratch[2].value, 256 * 1024);
  EXPECT_TRUE(can.accumulator_visible && can.operand_visible && can.page_walker &&
              can.gather_engine && can.gather_to_operand && can.converting_dma && can.fp8_matrix);
}

TEST(Chips, DavinciLike2StatesTheDocumentedFigures) {
  const ChipConfig chip = load_chip("davinci-like-2");
  EXPECT_NEAR(chip.flops(Format::bf16) / 1e12, 364, 1);  // accelerator.md 1.1, row B1
  EXPECT_NEAR(chip.hbm_bytes_per_second() / 1e12, 1.6384, 1e-9);
  EXPECT_EQ(chip.flops(Format::e4m3), chip.flops(Format::bf16));
  const auto can = chip.capabilities();
  EXPECT_EQ(can.cores, 24);
  EXPECT_EQ(can.scratch[1].value, 2 * 192 * 1024);
  EXPECT_EQ(can.scratch[2].value, 128 * 1024);
  EXPECT_FALSE(can.accumulator_visible || can.operand_visible || can.page_walker ||
               can.gather_engine || can.gather_to_operand || can.converting_dma || can.fp8_matrix);
  const double l2 = double(chip.l2.slices * chip.l2.slice_bytes_per_cycle) * chip.clock_ghz * 1e9;
  EXPECT_NEAR(l2 / 1e12, 5.0, 0.05);
}

TEST(Chips, StylesOfClustersAndOfReshapingEnginesReachThePublishedRates) {
  const ChipConfig cluster = load_chip("unioncluster-like"), dtu = load_chip("dtu-like");
  EXPECT_NEAR(cluster.flops(Format::bf16) / 1e12, 256, 7);  // half of 512 int8 TOPS
  EXPECT_NEAR(cluster.hbm_bytes_per_second() / 1e9, 1228, 1.5);
  EXPECT_EQ(cluster.hbm.stacks * cluster.hbm.capacity_gb, 32);
  EXPECT_NEAR(dtu.flops(Format::bf16) / 1e12, 80, 0.5);
  EXPECT_NEAR(dtu.hbm_bytes_per_second() / 1e9, 512, 1);
  EXPECT_NEAR(double(dtu.l2.slices * dtu.l2.slice_bytes_per_cycle) * dtu.clock_ghz / 1e3, 10, 0.01);
}

// Stated and assumed knobs split the list; what is assumed has mx-dma's value; what is stated names
// its source.
TEST(Chips, WhatAFileDoesNotStateIsAssumed) {
  ChipConfig chip = load_chip("davinci-like-2"), base = load_chip("mx-dma");
  const std::set<std::string> assumed(chip.assumed.begin(), chip.assumed.end());
  std::set<std::string> sourced;
  for (const auto& [path, source] : chip.sources) sourced.insert(path);
  const auto ours = list_knobs(chip), theirs = list_knobs(base);
  for (size_t i = 0; i < ours.size(); ++i) {
    EXPECT_NE(assumed.count(ours[i].path), sourced.count(ours[i].path)) << ours[i].path;
    if (assumed.count(ours[i].path)) {
      EXPECT_EQ(ours[i].text(), theirs[i].text()) << ours[i].path;
    }
  }
  EXPECT_TRUE(assumed.count("chip.noc.latency"));
  EXPECT_FALSE(assumed.count("chip.hbm.tck"));
}

TEST(Chips, EveryPresetLoadsAndItsDumpReadsBackTheSame) {
  for (const auto& name : chip_names()) {
    const ChipConfig chip = load_chip(name);
    const ChipConfig again = load_chip_text(dump_yaml(chip), "dump.yaml");
    EXPECT_EQ(values_of(again), values_of(chip)) << name;
    EXPECT_EQ(again.sources, chip.sources) << name;
    EXPECT_TRUE(again.assumed.empty()) << name;
  }
  EXPECT_GE(chip_names().size(), 2u);
}

// Peaks of memory.md section 1: GB/s of a stack, and its capacity.
TEST(Chips, HbmSetsHaveTheirPeaks) {
  const std::vector<std::tuple<std::string, double, int64_t>> expected = {{"hbm2_2000", 256, 8},
                                                                          {"hbm2e_3200", 409.6, 16},
                                                                          {"hbm3_6400", 819.2, 16},
                                                                          {"hbm3e_h200", 800, 24}};
  ASSERT_EQ(expected.size(), hbm_preset_names().size());
  for (const auto& [name, rate, capacity] : expected) {
    const ChipConfig chip = load_chip_text("hbm: {preset: " + name + ", stacks: 2}", "x.yaml");
    EXPECT_NEAR(chip.hbm_bytes_per_second() / 1e9, 2 * rate, 1e-6) << name;
    EXPECT_EQ(chip.hbm.capacity_gb, capacity);
  }
  const ChipConfig h200 = load_chip_text("hbm: {stacks: 6, preset: hbm3e_h200}", "x.yaml");
  EXPECT_NEAR(h200.hbm_bytes_per_second() / 1e12, 4.8, 1e-9);
  // Clock counts of hbm3_6400, straight from the table.
  const HbmConfig h = load_chip_text("hbm: {preset: hbm3_6400}", "x.yaml").hbm;
  EXPECT_EQ(std::lround(h.rcd_rd / h.tck), 31);
  EXPECT_EQ(std::lround(h.wr / h.tck), 33);
  EXPECT_EQ(std::lround(h.ccd_r / h.tck), 3);
  EXPECT_EQ(std::lround(h.refi / h.tck), 6240);
}

TEST(Chips, ValuesMayCarryUnits) {
  const ChipConfig chip = load_chip_text(
      "clock: 1650 MHz\nl2: {capacity: 0.25 GB, line: 1 KB, slices: 32}\n"
      "scheduler: {launch: 4500 ns}\ncore: {dma: {request: 0.5 KB}, matrix: {drain: 32 1/cycle}}\n"
      "hbm: {refi: 3.9us}\n",
      "x.yaml");
  EXPECT_EQ(chip.clock_ghz, 1.65);
  EXPECT_EQ(chip.l2.capacity_mb, 256);
  EXPECT_EQ(chip.l2.line, 1024);
  EXPECT_EQ(chip.scheduler.launch_us, 4.5);
  EXPECT_EQ(chip.core.dma.request, 512);
  EXPECT_EQ(chip.core.matrix.drain, 32);
  EXPECT_EQ(chip.hbm.refi, 3900);
}

TEST(Chips, SettingsComeLastAndNeedNoPrefix) {
  const std::vector<configs::Setting> settings = {
      configs::command_line_setting("cores=8"), configs::command_line_setting("chip.hbm.stacks=1"),
      configs::command_line_setting("noc.latency=7 cycles")};
  const ChipConfig chip = load_chip("davinci-like-2", settings);
  EXPECT_EQ(chip.cores, 8);
  EXPECT_EQ(chip.hbm.stacks, 1);
  EXPECT_EQ(chip.noc.latency, 7);
  EXPECT_FALSE(std::count(chip.assumed.begin(), chip.assumed.end(), "chip.noc.latency"));

  ChipConfig same = load_chip("davinci-like-2");
  for (const auto& s : {"cores=8", "chip.hbm.stacks=1", "noc.latency=7"})
    apply_set(same, s, "--set");
  EXPECT_EQ(values_of(same), values_of(chip));
  EXPECT_EQ(same.assumed, chip.assumed);
  // Two settings that are only right together.
  const std::vector<configs::Setting> both = {configs::command_line_setting("hbm.rows=32768"),
                                              configs::command_line_setting("hbm.capacity=8")};
  EXPECT_NO_THROW(load_chip("mx-dma", both));
  apply_set(same, "chip.hbm.preset=hbm3_6400", "--set");
  EXPECT_EQ(same.hbm.channels, 16);
}

TEST(Schema, ListsEveryKnobInEachForm) {
  ChipConfig chip;
  const std::string markdown = knobs_markdown();
  const auto schema = nlohmann::json::parse(knobs_json_schema());
  for (const auto& knob : list_knobs(chip)) {
    EXPECT_NE(markdown.find("| `" + knob.path + "` |"), std::string::npos) << knob.path;
    std::string pointer;
    for (size_t at = 5, dot; at < knob.path.size(); at = dot + 1) {
      dot = std::min(knob.path.find('.', at), knob.path.size());
      pointer += "/properties/" + knob.path.substr(at, dot - at);
    }
    ASSERT_TRUE(schema.contains(nlohmann::json::json_pointer(pointer))) << pointer;
    const std::string text = explain(knob.path, chip);
    for (const auto& part : {knob.path, knob.sentence, knob.source, knob.default_text})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  EXPECT_NE(explain("core.dma", chip).find("chip.core.dma.tlb.ways = 4"), std::string::npos);
  EXPECT_EQ(error_of([&] { explain("core.dma.outstandin", chip); }),
            "there is no knob 'core.dma.outstandin'; did you mean 'chip.core.dma.outstanding'?");
}

}  // namespace
}  // namespace daybreak::sim
