// What a chip description may say: the list of knobs and the forms derived from it.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "configs/reader/errors.hpp"
#include "sim/chip/config.hpp"

namespace daybreak::sim {

// One knob of one chip. The pointers point into the chip it was listed from.
struct Knob {
  std::string path;  // "chip.core.dma.outstanding"
  std::variant<int64_t*, double*, bool*, std::string*> value;
  std::string unit;                  // "flag" and "word" for switches and choices
  double low = 0, high = 0;          // numbers
  std::vector<std::string> allowed;  // words
  // Other words than those: throws UserError for what is none; null where there are no others.
  void (*check)(const std::string&, const Position&) = nullptr;
  std::string default_text, sentence, source;
  std::string text() const;  // the value now
};

// Every knob, in the order of config.hpp.
std::vector<Knob> list_knobs(ChipConfig& chip);

// A table of all knobs in Markdown, and a JSON schema of the YAML form.
std::string knobs_markdown();
std::string knobs_json_schema();

// What a knob means, its unit, range, default, source, and its value in `chip`. A path that names a
// part lists the knobs in it; an unknown path is a UserError that names the nearest one.
std::string explain(const std::string& path, const ChipConfig& chip);

// The chip as YAML that load_chip reads back to the same chip; sentences stand behind the values.
std::string dump_yaml(const ChipConfig& chip);

}  // namespace daybreak::sim
