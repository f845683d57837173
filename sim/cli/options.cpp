#include "sim/cli/options.hpp"

#include "configs/reader/setting.hpp"
#include "configs/reader/words.hpp"
#include "sim/chip/config_load.hpp"

namespace daybreak::cli {

sim::ChipConfig CommonOptions::load_chip() const {
  std::vector<configs::Setting> settings;
  for (const auto& text : set) settings.push_back(configs::command_line_setting(text));
  return sim::load_chip(chip, settings);
}

sim::Values CommonOptions::value_mode() const {
  if (values == "full") return sim::Values::full;
  if (values == "steering") return sim::Values::steering;
  throw UserError("--values: " + configs::in_quotes(values) + " is not full or steering" +
                  configs::did_you_mean(values, {"full", "steering"}));
}

}  // namespace daybreak::cli
