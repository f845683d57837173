#include "sim/cli/sweep_runs.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "configs/reader/loader.hpp"
#include "configs/reader/words.hpp"
#include "sim/chip/config_load.hpp"
#include "sim/chip/schema.hpp"
#include "traces/report/record.hpp"

namespace daybreak::cli {

SweepVariant variant_of(const configs::Sweep& sweep, const std::vector<configs::Setting>& point) {
  SweepVariant out{.chip = sweep.chip, .knobs = {}};
  for (const auto& setting : point) {
    if (setting.path == "chip")
      out.chip = setting.value;
    else
      out.knobs.push_back(setting);
  }
  return out;
}

void check_knobs(const configs::Sweep& sweep) {
  std::string name = sweep.chip;
  for (const auto& axis : sweep.axes)
    if (axis.knob == "chip")
      for (const auto& value : axis.values) sim::load_chip(name = value);
  auto chip = sim::load_chip(name);
  std::vector<std::string> known{"chip"};
  for (const auto& knob : sim::list_knobs(chip)) known.push_back(knob.path);
  for (const auto& axis : sweep.axes)
    if (std::ranges::find(known, axis.knob) == known.end())
      throw UserError(axis.at, "there is no knob " + configs::in_quotes(axis.knob) +
                                   configs::did_you_mean(axis.knob, known));
}

std::vector<size_t> read_points(const std::string& file, size_t count) {
  std::istringstream lines(configs::read_file(file));
  std::set<size_t> seen;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    size_t point = 0;
    const char* end = line.data() + line.size();
    const auto result = std::from_chars(line.data(), end, point);
    const Position at{.file = file, .line = ++number, .column = 1};
    if (result.ec != std::errc{} || result.ptr != end || point >= count)
      throw UserError(at, fmt::format("{} is not the number of a point, 0 to {}",
                                      configs::in_quotes(line), count - 1));
    if (!seen.insert(point).second)
      throw UserError(at, fmt::format("point {} is named twice", point));
  }
  if (seen.empty()) throw UserError(file + ": no point is named");
  return {seen.begin(), seen.end()};
}

std::vector<SweepRun> runs_of(const configs::Sweep& sweep,
                              const std::vector<std::vector<configs::Setting>>& points,
                              const std::optional<std::vector<size_t>>& only) {
  std::vector<SweepRun> out;
  std::map<std::string, sim::ChipConfig> bases;
  const auto add = [&](size_t point) {
    const SweepVariant variant = variant_of(sweep, points[point]);
    if (!bases.contains(variant.chip)) bases[variant.chip] = sim::load_chip(variant.chip);
    std::string text, refused;
    try {
      auto chip = bases[variant.chip];
      sim::apply_sets(chip, variant.knobs);
      text = sim::dump_yaml(chip);
    } catch (const UserError& error) {
      refused = error.what();
      for (const auto& s : variant.knobs) text += s.path + "=" + s.value + "\n";
    }
    // Lengths go along, so that no two lists of words give the same text.
    text = fmt::format("{}\n{}\n{}\n{}\n", DAYBREAK_VERSION, variant.chip, text.size(), text);
    for (const auto& workload : sweep.workloads) {
      std::string whole = text;
      for (const auto& word : workload.words) whole += fmt::format("{}:{}\n", word.size(), word);
      out.push_back(
          {point, &workload, points[point], variant, traces::content_hash(whole), refused});
    }
  };
  if (only) {
    for (const size_t point : *only) add(point);
  } else {
    for (size_t point = 0; point < points.size(); ++point) add(point);
  }
  return out;
}

std::vector<std::string> words_of(const SweepRun& run, const std::string& out) {
  std::vector<std::string> words = run.workload->words;
  words.insert(words.end(), {"--chip", run.variant.chip, "--trace", "off", "--out", out});
  for (const auto& s : run.variant.knobs)
    words.insert(words.end(), {"--set", s.path + "=" + s.value});
  return words;
}

}  // namespace daybreak::cli
