// Rules between knobs: what single ranges cannot say.
#pragma once
#include <string>
#include <vector>

#include "sim/chip/config.hpp"

namespace daybreak::sim {

// A broken rule: the knobs it is about (the first is the one to blame) and one sentence.
struct Conflict {
  std::vector<std::string> paths;
  std::string sentence;
};

std::vector<Conflict> find_conflicts(const ChipConfig& chip);

}  // namespace daybreak::sim
