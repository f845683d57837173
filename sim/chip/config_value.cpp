#include "sim/chip/config_value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "configs/reader/words.hpp"

namespace daybreak::sim {
namespace {

using configs::in_quotes;
using configs::number_text;

// Units of one kind: a value converts by the ratio of their sizes.
struct Unit {
  const char* name;
  double size;
};
struct UnitKind {
  const char* noun;
  std::vector<Unit> units;
};
const std::vector<UnitKind> kKinds = {
    {"a size", {{"B", 1}, {"KB", 1024}, {"MB", 1048576}, {"GB", 1073741824}}},
    {"a frequency", {{"MHz", 1}, {"GHz", 1000}}},
    {"a time", {{"ns", 1}, {"us", 1000}}},
    {"a number of cycles", {{"cycles", 1}}},
    {"a rate", {{"B/cycle", 1}}},
    {"a rate", {{"MB/s", 1}, {"GB/s", 1000}}},
    {"a rate", {{"1/cycle", 1}, {"/cycle", 1}}},
};

const UnitKind* kind_of(const std::string& unit) {
  for (const auto& kind : kKinds)
    for (const auto& known : kind.units)
      if (unit == known.name) return &kind;
  return nullptr;
}

double size_of(const UnitKind& kind, const std::string& unit) {
  for (const auto& known : kind.units)
    if (unit == known.name) return known.size;
  return 0;
}

std::string allowed_text(const Knob& knob) {
  const bool whole = std::holds_alternative<int64_t*>(knob.value);
  const bool plain = knob.unit == "count" || knob.unit == "ratio";
  return in_quotes(knob.path) + " must be " + (whole ? "a whole number" : "a number") + " from " +
         number_text(knob.low) + " to " + number_text(knob.high) + (plain ? "" : " " + knob.unit);
}

// The number in the knob's own unit.
double number_of(const Knob& knob, const std::string& text, const Position& at) {
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || !std::isfinite(value))
    throw UserError(at, allowed_text(knob) + "; got " + in_quotes(text));
  std::string unit(result.ptr, text.data() + text.size());
  unit.erase(0, unit.find_first_not_of(' ') == std::string::npos ? unit.size()
                                                                 : unit.find_first_not_of(' '));
  if (unit.empty()) return value;
  const UnitKind* wanted = kind_of(knob.unit);
  if (!wanted) throw UserError(at, allowed_text(knob) + " without a unit; got " + in_quotes(text));
  const double size = size_of(*wanted, unit);
  if (size == 0) {
    std::vector<std::string> names;
    for (const auto& known : wanted->units) names.push_back(known.name);
    throw UserError(at, in_quotes(knob.path) + " is " + wanted->noun + " in " + knob.unit + "; " +
                            in_quotes(unit) + " is the wrong unit, allowed are " +
                            configs::any_of(names) + configs::did_you_mean(unit, names));
  }
  return value * size / size_of(*wanted, knob.unit);
}

}  // namespace

void set_knob(const Knob& knob, const std::string& text, const Position& at) {
  if (auto* word = std::get_if<std::string*>(&knob.value)) {
    const bool named =
        std::find(knob.allowed.begin(), knob.allowed.end(), text) != knob.allowed.end();
    if (!named && knob.check) knob.check(text, at);
    if (!named && !knob.check)
      throw UserError(at, in_quotes(knob.path) + " must be " + configs::any_of(knob.allowed) +
                              "; got " + in_quotes(text) +
                              configs::did_you_mean(text, knob.allowed));
    **word = text;
    return;
  }
  if (auto* flag = std::get_if<bool*>(&knob.value)) {
    if (text != "true" && text != "false")
      throw UserError(at, in_quotes(knob.path) + " must be true or false; got " + in_quotes(text));
    **flag = text == "true";
    return;
  }
  const double value = number_of(knob, text, at);
  const bool whole = std::holds_alternative<int64_t*>(knob.value);
  if (value < knob.low || value > knob.high || (whole && value != std::floor(value)))
    throw UserError(at, allowed_text(knob) + "; got " + in_quotes(text));
  if (whole)
    *std::get<int64_t*>(knob.value) = int64_t(value);
  else
    *std::get<double*>(knob.value) = value;
}

}  // namespace daybreak::sim
