#include "sim/chip/config_load.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "configs/reader/loader.hpp"
#include "configs/reader/words.hpp"
#include "sim/chip/config_check.hpp"
#include "sim/chip/config_hbm.hpp"
#include "sim/chip/config_value.hpp"
#include "sim/chip/schema.hpp"

namespace daybreak::sim {
namespace {

using configs::in_quotes;
using configs::Node;
using configs::Setting;

constexpr const char* kPresetPath = "chip.hbm.preset";
constexpr const char* kBase = "configs/chips/mx-dma.yaml";

// Where a knob was last stated; a higher rank is nearer to the user (base file, own file, --set).
struct Place {
  Position at;
  int rank = 0;
};

class Loader {
 public:
  explicit Loader(ChipConfig& chip) : chip_(chip), knobs_(list_knobs(chip)) {
    for (const auto& knob : knobs_) stated_[knob.path] = false;
  }

  // A file and, before it, what it extends. `chain` names the files that are open already.
  void file(const Node& root, const std::string& shown, std::vector<std::string> chain) {
    if (!root.is_map()) root.fail("a chip description is a map of keys, such as 'cores: 32'");
    chain.push_back(shown);
    if (const Node* base = root.find("extends")) {
      const auto located = locate_base(*base, shown);
      if (std::find(chain.begin(), chain.end(), located.shown) != chain.end())
        base->fail("extending " + in_quotes(base->text()) + " leads back to this file");
      if (chain.size() >= 8) base->fail("descriptions extend each other more than 8 deep");
      const std::string text = configs::read_file(located.path);
      file(configs::load_yaml_text(text, located.shown), located.shown, chain);
    }
    if (const Node* about = root.find("about")) about->string();
    ++rank_;
    counts_as_stated_ = shown != kBase || chain.size() == 1;
    part(root, "chip.");
  }

  void setting(const Setting& setting) {
    const std::string path =
        setting.path.rfind("chip.", 0) == 0 ? setting.path : "chip." + setting.path;
    counts_as_stated_ = true;
    rank_ = 1000;
    if (path == kPresetPath) return preset(setting.value, setting.at);
    for (const auto& knob : knobs_)
      if (knob.path == path) return state(knob, setting.value, "", setting.at);
    std::vector<std::string> known = {kPresetPath};
    for (const auto& knob : knobs_) known.push_back(knob.path);
    throw UserError(
        setting.at,
        "there is no knob " + in_quotes(setting.path) + configs::did_you_mean(path, known) +
            (configs::nearest(path, known).empty() ? "; `daybreak schema knobs` lists them all"
                                                   : ""));
  }

  // Rules between knobs; blames the knob that was stated nearest to the user.
  void check(const Position& whole) const {
    const auto conflicts = find_conflicts(chip_);
    if (conflicts.empty()) return;
    const Place* blamed = nullptr;
    for (const auto& path : conflicts[0].paths) {
      const auto found = places_.find(path);
      if (found != places_.end() && (!blamed || found->second.rank > blamed->rank))
        blamed = &found->second;
    }
    throw UserError(blamed ? blamed->at : whole, conflicts[0].sentence);
  }

  // Fills `assumed`, and puts `sources` into the order of the knobs, whatever the file's order was.
  void finish() {
    chip_.assumed.clear();
    const auto place = [&](const auto& entry) {
      return std::find_if(knobs_.begin(), knobs_.end(),
                          [&](const Knob& knob) { return knob.path == entry.first; }) -
             knobs_.begin();
    };
    std::sort(chip_.sources.begin(), chip_.sources.end(),
              [&](const auto& a, const auto& b) { return place(a) < place(b); });
    for (const auto& knob : knobs_)
      if (!stated_.at(knob.path)) chip_.assumed.push_back(knob.path);
  }
  void take_assumed() {  // of a chip that was loaded before
    for (const auto& knob : knobs_) stated_[knob.path] = true;
    for (const auto& path : chip_.assumed) stated_[path] = false;
  }

 private:
  // A name is a preset; a path counts from the folder of the file that names it.
  static configs::Located locate_base(const Node& base, const std::string& shown) {
    const std::string& name = base.string();
    try {
      const bool is_path = name.find('/') != std::string::npos || name.ends_with(".yaml");
      if (!is_path) return configs::locate(name, "chips", ".yaml");
      const auto folder = std::filesystem::path(shown).parent_path();
      const std::string path = (folder / name).lexically_normal().string();
      return {.path = path, .shown = path};
    } catch (const UserError& error) { base.fail(error.what()); }
  }

  // Everything below one key; `prefix` ends in a dot.
  void part(const Node& node, const std::string& prefix) {
    if (prefix == "chip.hbm.")
      if (const Node* name = node.find("preset")) preset(name->text(), name->at());
    for (size_t i = 0; i < node.keys().size(); ++i) {
      const auto& key = node.keys()[i];
      const Node& value = node.values()[i];
      const std::string path = prefix + key.name;
      if (prefix == "chip." && (key.name == "extends" || key.name == "about")) continue;
      if (path == kPresetPath) continue;
      if (const Knob* knob = find_knob(path)) {
        leaf(*knob, value);
      } else if (is_part(path)) {
        if (!value.is_map()) value.fail(in_quotes(path) + " must be a map of knobs");
        part(value, path + ".");
      } else {
        throw UserError(node.at(key), unknown_key(key.name, prefix));
      }
    }
  }

  const Knob* find_knob(const std::string& path) const {
    for (const auto& knob : knobs_)
      if (knob.path == path) return &knob;
    return nullptr;
  }
  bool is_part(const std::string& path) const {
    return std::any_of(knobs_.begin(), knobs_.end(),
                       [&](const Knob& knob) { return knob.path.rfind(path + ".", 0) == 0; });
  }

  // The nearest key in the same part, else the same key elsewhere.
  std::string unknown_key(const std::string& name, const std::string& prefix) const {
    std::vector<std::string> here;
    std::string elsewhere;
    if (prefix == "chip.") here = {"extends", "about"};
    if (prefix == "chip.hbm.") here = {"preset"};
    for (const auto& knob : knobs_) {
      if (knob.path.ends_with("." + name) && elsewhere.empty()) elsewhere = knob.path;
      if (knob.path.rfind(prefix, 0) != 0) continue;
      const std::string word =
          knob.path.substr(prefix.size(), knob.path.find('.', prefix.size()) - prefix.size());
      if (here.empty() || here.back() != word) here.push_back(word);
    }
    std::string hint = configs::did_you_mean(name, here);
    if (hint.empty() && !elsewhere.empty()) hint = "; did you mean '" + elsewhere + "'?";
    return "unknown key " + in_quotes(name) + " in '" + prefix.substr(0, prefix.size() - 1) +
           "'; allowed are " + configs::any_of(here) + hint;
  }

  // `knob: value` or `knob: {value: v, source: "..."}`.
  void leaf(const Knob& knob, const Node& node) {
    if (!node.is_map()) return state(knob, node.text(), "", node.at());
    node.only({"value", "source"});
    const Node& value = node.require("value");
    const Node* source = node.find("source");
    state(knob, value.text(), source ? source->text() : "", value.at());
  }

  void state(const Knob& knob, const std::string& text, const std::string& source,
             const Position& at) {
    set_knob(knob, text, at);
    places_[knob.path] = {at, rank_};
    if (counts_as_stated_) stated_[knob.path] = true;
    std::erase_if(chip_.sources, [&](const auto& known) { return known.first == knob.path; });
    if (!source.empty()) chip_.sources.emplace_back(knob.path, source);
  }

  // A named set states every HBM knob but those it leaves alone (config_hbm.hpp).
  void preset(const std::string& name, const Position& at) {
    const auto names = hbm_preset_names();
    if (!apply_hbm_preset(chip_.hbm, name))
      throw UserError(at, "'chip.hbm.preset' must be " + configs::any_of(names) + "; got " +
                              in_quotes(name) + configs::did_you_mean(name, names));
    const std::string prefix = "chip.hbm.";
    for (const auto& knob : knobs_) {
      if (knob.path.rfind(prefix, 0) != 0 || !hbm_preset_sets(knob.path.substr(prefix.size())))
        continue;
      state(knob, knob.text(), "memory.md, " + name, at);
    }
  }

  ChipConfig& chip_;
  std::vector<Knob> knobs_;
  std::map<std::string, bool> stated_;
  std::map<std::string, Place> places_;
  int rank_ = 0;
  bool counts_as_stated_ = true;
};

ChipConfig load(const Node& root, const std::string& shown, const std::string& name,
                std::span<const Setting> settings) {
  ChipConfig chip;
  Loader loader(chip);
  loader.file(root, shown, {});
  for (const auto& setting : settings) loader.setting(setting);
  loader.check(root.at());
  loader.finish();
  chip.name = name;
  return chip;
}

}  // namespace

ChipConfig load_chip(const std::string& name_or_file, std::span<const Setting> settings) {
  const auto located = configs::locate(name_or_file, "chips", ".yaml");
  const std::string text = configs::read_file(located.path);
  const std::string name = std::filesystem::path(located.path).stem().string();
  return load(configs::load_yaml_text(text, located.shown), located.shown, name, settings);
}

ChipConfig load_chip_text(const std::string& text, const std::string& name,
                          std::span<const Setting> settings) {
  const std::string stem = std::filesystem::path(name).stem().string();
  return load(configs::load_yaml_text(text, name), name, stem, settings);
}

void apply_sets(ChipConfig& chip, std::span<const Setting> settings) {
  ChipConfig changed = chip;
  Loader loader(changed);
  loader.take_assumed();
  for (const auto& setting : settings) loader.setting(setting);
  loader.check(settings.empty() ? Position{} : settings.back().at);
  loader.finish();
  chip = changed;
}

void apply_set(ChipConfig& chip, const std::string& setting, const std::string& where) {
  const Setting parsed = configs::parse_setting(setting, Position{.file = where});
  apply_sets(chip, std::span(&parsed, 1));
}

std::vector<std::string> chip_names() { return configs::preset_names("chips", ".yaml"); }

}  // namespace daybreak::sim
