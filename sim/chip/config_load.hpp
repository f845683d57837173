// Chip descriptions from YAML presets and files, and `--set` on top of them.
//
//   extends: mx-dma               # optional: unstated knobs keep mx-dma's figure anyway
//   about: one sentence           # optional
//   clock: 1.85 GHz               # a bare number is in the knob's own unit
//   core:
//     vector: {bytes_per_cycle: {value: 256, source: "accelerator.md 1.3"}}
//   hbm: {preset: hbm2e_3200, stacks: 4}
#pragma once
#include <span>
#include <string>
#include <vector>

#include "configs/reader/setting.hpp"
#include "sim/chip/config.hpp"

namespace daybreak::sim {

// A preset by name ("mx-dma") or a file by path, with settings applied, checked as a whole.
ChipConfig load_chip(const std::string& name_or_file,
                     std::span<const configs::Setting> settings = {});
// The same from text; `name` starts every message and names the chip.
ChipConfig load_chip_text(const std::string& text, const std::string& name,
                          std::span<const configs::Setting> settings = {});

// One setting, e.g. ("chip.core.dma.outstanding=32", "--set chip.core.dma.outstanding=32"); the
// chip is checked as a whole afterwards and left as it was when that fails.
void apply_set(ChipConfig& chip, const std::string& setting, const std::string& where);
void apply_sets(ChipConfig& chip, std::span<const configs::Setting> settings);

// Names of the presets, sorted.
std::vector<std::string> chip_names();

}  // namespace daybreak::sim
