#include "sim/chip/schema.hpp"

#include <nlohmann/json.hpp>
#include <type_traits>

#include "configs/reader/errors.hpp"
#include "configs/reader/words.hpp"

namespace daybreak::sim {
namespace {

using configs::number_text;

std::string as_text(bool value) { return value ? "true" : "false"; }
std::string as_text(int64_t value) { return std::to_string(value); }
std::string as_text(double value) { return number_text(value); }

// Collects every knob with its path.
struct Collector {
  std::vector<Knob>& knobs;
  std::string prefix;

  template <class T, class D>
  void knob(const char* name, T& member, D value, const char* unit, double low, double high,
            const char* sentence, const char* source) {
    knobs.push_back({.path = prefix + name,
                     .value = &member,
                     .unit = unit,
                     .low = low,
                     .high = high,
                     .allowed = {},
                     .default_text = as_text(T(value)),
                     .sentence = sentence,
                     .source = source});
  }
  void choice(const char* name, std::string& member, const char* value,
              std::initializer_list<const char*> allowed, const char* sentence,
              const char* source) {
    knobs.push_back({.path = prefix + name,
                     .value = &member,
                     .unit = "word",
                     .allowed = {allowed.begin(), allowed.end()},
                     .default_text = value,
                     .sentence = sentence,
                     .source = source});
  }
  void text(const char* name, std::string& member, const char* value,
            std::initializer_list<const char*> allowed,
            void (*check)(const std::string&, const Position&), const char* sentence,
            const char* source) {
    choice(name, member, value, allowed, sentence, source);
    knobs.back().check = check;
  }
  template <class P> void part(const char* name, P& part) {
    Collector inner{knobs, prefix + name + "."};
    part.knobs(inner);
  }
};

std::string range_of(const Knob& knob) {
  if (knob.unit == "word" && knob.check) return configs::any_of(knob.allowed) + ", or a list";
  if (knob.unit == "word") return configs::any_of(knob.allowed);
  if (knob.unit == "flag") return "true or false";
  return number_text(knob.low) + " to " + number_text(knob.high);
}

// Units that stand behind a value in a file; the others are written as a bare number or word.
bool has_suffix(const Knob& knob) {
  return knob.unit != "word" && knob.unit != "flag" && knob.unit != "count" &&
         knob.unit != "ratio" && knob.unit != "1/cycle";
}

std::string source_in(const ChipConfig& chip, const std::string& path) {
  for (const auto& [known, source] : chip.sources)
    if (known == path) return source;
  return "";
}

// Splits "chip.core.dma.outstanding" into its words.
std::vector<std::string> words_of(const std::string& path) {
  std::vector<std::string> words(1);
  for (const char c : path) {
    if (c == '.')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

nlohmann::ordered_json value_schema(const Knob& knob) {
  using Json = nlohmann::ordered_json;
  Json value;
  if (knob.unit == "word" && knob.check) {
    value = {{"type", "string"}, {"examples", knob.allowed}};
  } else if (knob.unit == "word") {
    value["enum"] = knob.allowed;
  } else if (knob.unit == "flag") {
    value["type"] = "boolean";
  } else {
    const bool whole = std::holds_alternative<int64_t*>(knob.value);
    Json number = {
        {"type", whole ? "integer" : "number"}, {"minimum", knob.low}, {"maximum", knob.high}};
    if (has_suffix(knob)) {
      const Json text = {{"type", "string"}, {"pattern", "^[0-9.eE+-]+ ?[A-Za-z1]+(/cycle)?$"}};
      value["anyOf"] = Json::array({number, text});
    } else {
      value = number;
    }
  }
  return value;
}

}  // namespace

std::string Knob::text() const {
  return std::visit(
      [](auto* member) -> std::string {
        if constexpr (std::is_same_v<decltype(member), std::string*>)
          return *member;
        else
          return as_text(*member);
      },
      value);
}

std::vector<Knob> list_knobs(ChipConfig& chip) {
  std::vector<Knob> knobs;
  Collector collector{knobs, "chip."};
  chip.knobs(collector);
  return knobs;
}

std::string knobs_markdown() {
  ChipConfig defaults;
  std::string out =
      "| knob | unit | range | default | meaning | source |\n"
      "|---|---|---|---|---|---|\n";
  for (const Knob& knob : list_knobs(defaults))
    out += "| `" + knob.path + "` | " + knob.unit + " | " + range_of(knob) + " | " +
           knob.default_text + " | " + knob.sentence + " | " + knob.source + " |\n";
  return out;
}

std::string knobs_json_schema() {
  using Json = nlohmann::ordered_json;
  ChipConfig defaults;
  Json root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
               {"title", "Daybreak chip description"},
               {"type", "object"},
               {"additionalProperties", false}};
  root["properties"]["extends"] = {{"type", "string"}};
  root["properties"]["about"] = {{"type", "string"}};
  root["properties"]["hbm"]["properties"]["preset"] = {{"type", "string"}};
  for (const Knob& knob : list_knobs(defaults)) {
    Json* at = &root;
    const auto words = words_of(knob.path);
    for (size_t i = 1; i + 1 < words.size(); ++i) {
      at = &(*at)["properties"][words[i]];
      (*at)["type"] = "object";
      (*at)["additionalProperties"] = false;
    }
    const Json value = value_schema(knob);
    Json with_source = {
        {"type", "object"}, {"required", {"value"}}, {"additionalProperties", false}};
    with_source["properties"]["value"] = value;
    with_source["properties"]["source"] = {{"type", "string"}};
    Json entry = {{"description", knob.sentence + " [" + knob.unit + "]"}};
    if (knob.unit == "flag")
      entry["default"] = knob.default_text == "true";
    else if (knob.unit == "word")
      entry["default"] = knob.default_text;
    else
      entry["default"] = Json::parse(knob.default_text);
    entry["anyOf"] = Json::array({value, with_source});
    (*at)["properties"][words.back()] = entry;
  }
  return root.dump(2) + "\n";
}

std::string explain(const std::string& path, const ChipConfig& chip) {
  ChipConfig copy = chip;
  const std::string full = path == "chip" || path.rfind("chip.", 0) == 0 ? path : "chip." + path;
  std::vector<std::string> known;
  std::string part;
  for (const Knob& knob : list_knobs(copy)) {
    known.push_back(knob.path);
    if (knob.path == full) {
      const std::string own = source_in(chip, knob.path);
      const std::string unit = knob.unit == "word" || knob.unit == "flag" ? "" : " " + knob.unit;
      return knob.path + ": " + knob.sentence + "\n  unit     " + knob.unit + "\n  allowed  " +
             range_of(knob) + "\n  default  " + knob.default_text + unit + " (" + knob.source +
             ")\n  here     " + knob.text() + unit + " (" + chip.name +
             (own.empty() ? "" : ": " + own) + ")\n";
    }
    if (knob.path.rfind(full + ".", 0) == 0)
      part += knob.path + " = " + knob.text() + (has_suffix(knob) ? " " + knob.unit : "") + "  (" +
              knob.sentence + ")\n";
  }
  if (part.empty())
    throw UserError(
        "there is no knob " + configs::in_quotes(path) + configs::did_you_mean(full, known) +
        (configs::nearest(full, known).empty() ? "; `daybreak schema knobs` lists them all" : ""));
  return part;
}

std::string dump_yaml(const ChipConfig& chip) {
  ChipConfig copy = chip;
  std::string out;
  std::vector<std::string> open;  // the parts that the last line stands in
  for (const Knob& knob : list_knobs(copy)) {
    auto words = words_of(knob.path);
    words.erase(words.begin());
    const std::string name = words.back();
    words.pop_back();
    size_t shared = 0;
    while (shared < open.size() && shared < words.size() && open[shared] == words[shared]) ++shared;
    for (size_t i = shared; i < words.size(); ++i)
      out += std::string(2 * i, ' ') + words[i] + ":\n";
    open = words;
    const std::string value = knob.text() + (has_suffix(knob) ? " " + knob.unit : "");
    const std::string source = source_in(chip, knob.path);
    std::string line = std::string(2 * words.size(), ' ') + name + ": ";
    line += source.empty()
                ? value
                : "{value: " + value + ", source: " + nlohmann::json(source).dump() + "}";
    if (line.size() < 38) line.resize(38, ' ');
    out += line + "  # " + (knob.unit == "1/cycle" ? "per cycle: " : "") + knob.sentence + "\n";
  }
  return out;
}

}  // namespace daybreak::sim
