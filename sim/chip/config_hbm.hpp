// Named sets of HBM geometry and timing (spec/memory.md sections 1 and 3). A set fills geometry
// and timing of a stack; the number of stacks and what the controller does are left alone.
#pragma once
#include <string>
#include <vector>

#include "sim/chip/config.hpp"

namespace daybreak::sim {

// hbm2_2000, hbm2e_3200, hbm3_6400, hbm3e_h200.
std::vector<std::string> hbm_preset_names();

// True for the knobs of HbmConfig ("tck") that a set fills.
bool hbm_preset_sets(const std::string& knob);

// False when the name is unknown; then `hbm` is unchanged.
bool apply_hbm_preset(HbmConfig& hbm, const std::string& name);

}  // namespace daybreak::sim
