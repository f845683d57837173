#include "sim/cli/estimate.hpp"

#include "configs/reader/loader.hpp"

namespace daybreak::cli {
namespace {

Estimate read_one(const configs::Node& node) {
  node.only({"low", "nominal", "high", "source"});
  node.require("source").string();
  Estimate e{.low = node.number_at("low", 0, 1e6)};
  e.nominal = node.number_at("nominal", e.low, 1e6);
  e.high = node.number_at("high", e.nominal, 1e6);
  return e;
}

}  // namespace

EstimateTable read_estimates(const std::string& name_or_file) {
  const auto located = configs::locate(name_or_file, "estimates", ".yaml");
  const auto root = configs::load_yaml_text(configs::read_file(located.path), located.shown);
  root.only({"about", "energy", "area", "cost"});
  const auto &energy = root.require("energy"), &area = root.require("area"),
             &cost = root.require("cost");
  energy.only({"hbm_bit", "l2_bit", "flop"});
  area.only({"sram_bit", "mac"});
  cost.only({"hbm_gb", "hbm_stack"});
  return {.hbm_bit = read_one(energy.require("hbm_bit")),
          .l2_bit = read_one(energy.require("l2_bit")),
          .flop = read_one(energy.require("flop")),
          .sram_bit = read_one(area.require("sram_bit")),
          .mac = read_one(area.require("mac")),
          .hbm_gb = read_one(cost.require("hbm_gb")),
          .hbm_stack = read_one(cost.require("hbm_stack"))};
}

int64_t sram_bytes(const sim::ChipConfig& chip) {
  const auto& core = chip.core;
  const int64_t kb = core.scratch.operand_kb + core.scratch.vector_kb +
                     core.scratch.accumulator_kb + core.matrix.latch_a_kb + core.matrix.latch_b_kb +
                     core.dma.scale_cache_kb;
  return chip.cores * kb * 1024 + chip.l2.capacity_mb * 1024 * 1024;
}

std::vector<traces::Metric> objectives(const traces::RunRecord& record, const sim::ChipConfig& chip,
                                       const EstimateTable& table) {
  double l2_bits = 0, flop = 0;
  for (const auto& kernel : record.kernels) {
    l2_bits += 8 * double(kernel.read_bytes + kernel.write_bytes);
    flop += kernel.useful_flop;
  }
  const double hbm_bits = 8 * double(record.totals.hbm_bytes);
  const double sram_bits = 8 * double(sram_bytes(chip));
  const auto& matrix = chip.core.matrix;
  const double macs = double(chip.cores * matrix.m * matrix.n * matrix.k_bf16);
  std::vector<traces::Metric> out{{"us", record.totals.microseconds},
                                  {"hbm_bytes", double(record.totals.hbm_bytes)},
                                  {"sram_bytes", double(sram_bytes(chip))}};
  const std::pair<const char*, double Estimate::*> levels[] = {
      {"low", &Estimate::low}, {"nominal", &Estimate::nominal}, {"high", &Estimate::high}};
  for (const auto& [name, level] : levels)
    out.push_back({std::string("energy_uj_") + name,
                   1e-6 * (hbm_bits * table.hbm_bit.*level + l2_bits * table.l2_bit.*level +
                           flop * table.flop.*level)});
  for (const auto& [name, level] : levels)
    out.push_back({std::string("area_mm2_") + name,
                   1e-6 * (sram_bits * table.sram_bit.*level + macs * table.mac.*level)});
  for (const auto& [name, level] : levels)
    out.push_back({std::string("hbm_usd_") + name,
                   double(chip.hbm.stacks) * (table.hbm_stack.*level +
                                              double(chip.hbm.capacity_gb) * table.hbm_gb.*level)});
  return out;
}

}  // namespace daybreak::cli
