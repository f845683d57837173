// One `--set path=value`, or one line of a study's `set` map.
#pragma once
#include <string>

#include "configs/reader/errors.hpp"

namespace daybreak::configs {

struct Setting {
  std::string path;   // "chip.core.dma.outstanding", the leading "chip." may be left out
  std::string value;  // "32", "1.65 GHz"
  Position at;        // where the user wrote it, for messages
};

// Splits "path=value"; `at` names the place, e.g. Position{.file = "--set chip.cores=8"}.
Setting parse_setting(const std::string& text, const Position& at);
// The same from a command line: the position is "--set TEXT".
Setting command_line_setting(const std::string& text);

}  // namespace daybreak::configs
