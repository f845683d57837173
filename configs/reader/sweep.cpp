#include "configs/reader/sweep.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "configs/reader/loader.hpp"
#include "configs/reader/words.hpp"

namespace daybreak::configs {
namespace {

constexpr size_t kMostCombinations = 1'000'000, kMostValues = 10'000;

std::vector<std::string> names_of(const std::vector<SweepAxis>& axes) {
  std::vector<std::string> out;
  for (const auto& axis : axes) out.push_back(axis.name);
  return out;
}

Expression expression(const Node& node, const std::vector<SweepAxis>& axes) {
  Position at = node.at();
  if (node.is_text()) ++at.column;
  auto out = Expression::parse(node.text(), at);
  const auto known = names_of(axes);
  for (const auto& reference : out.references())
    if (!reference.run.empty() || std::ranges::find(known, reference.metric) == known.end())
      throw UserError(reference.at, in_quotes(reference.metric) + " is no axis above this line" +
                                        did_you_mean(reference.metric, known));
  return out;
}

std::vector<std::string> range(const Node& node) {
  node.only({"from", "to", "step"});
  const double from = node.number_at("from", -1e15, 1e15), to = node.number_at("to", from, 1e15);
  const double step = node.number_at("step", 1e-9, 1e15);
  // A last value that rounding puts just past the end still counts.
  const double count = std::floor((to - from) / step * (1 + 1e-12) + 1e-12) + 1;
  if (count > double(kMostValues)) node.fail("a range may have up to 10000 values");
  std::vector<std::string> out;
  for (int64_t i = 0; i < int64_t(count); ++i) out.push_back(number_text(from + double(i) * step));
  return out;
}

std::vector<std::string> log_range(const Node& node) {
  node.only({"from", "to", "factor"});
  const double from = node.number_at("from", 1e-9, 1e15), to = node.number_at("to", from, 1e15);
  const double factor = node.number_at("factor", 1.001, 1e15);
  std::vector<std::string> out;
  for (double value = from; value <= to * (1 + 1e-12); value *= factor) {
    if (out.size() == kMostValues) node.fail("a range may have up to 10000 values");
    out.push_back(number_text(value));
  }
  return out;
}

SweepAxis read_axis(const Node& node, const std::vector<SweepAxis>& above) {
  node.only({"name", "knob", "list", "range", "log", "value"});
  const std::string knob = node.string_at("knob");
  SweepAxis axis{.name = node.string_at("name"),
                 .knob = knob == "chip" || knob.starts_with("chip.") ? knob : "chip." + knob,
                 .at = node.require("knob").at()};
  for (const auto& other : above)
    if (other.name == axis.name || other.knob == axis.knob)
      node.fail("the name or the knob of " + in_quotes(axis.name) + " has an axis already");
  const std::vector<std::string> forms = {"list", "range", "log", "value"};
  if (std::ranges::count_if(forms, [&](const auto& form) { return node.has(form); }) != 1)
    node.fail("the axis " + in_quotes(axis.name) + " needs one of " + any_of(forms));
  if (node.has("value")) axis.follows = expression(node.require("value"), above);
  if (node.has("range")) axis.values = range(node.require("range"));
  if (node.has("log")) axis.values = log_range(node.require("log"));
  if (node.has("list")) {
    for (const Node& value : node.require("list").items()) axis.values.push_back(value.text());
    if (axis.values.empty()) node.require("list").fail("'list' must hold a value");
  }
  return axis;
}

SweepWorkload read_workload(const Node& node) {
  node.only({"name", "words"});
  SweepWorkload out{.name = node.string_at("name"), .words = {}};
  const Node& words = node.require("words");
  const std::vector<std::string> ours = {"--chip", "--set",   "--out",
                                         "--json", "--trace", "--trace-cap"};
  for (const Node& word : words.items()) {
    const std::string& text = word.text();
    if (std::ranges::find(ours, text.substr(0, text.find('='))) != ours.end())
      word.fail(in_quotes(text) + " is the sweep's own; a workload says none of " + any_of(ours));
    out.words.push_back(text);
  }
  if (out.words.empty()) words.fail("a workload needs a verb");
  if (out.words[0] != "run" && out.words[0] != "day0")
    words.fail("a workload's verb is run or day0, not " + in_quotes(out.words[0]));
  return out;
}

Sweep read(const Node& root) {
  root.only({"title", "about", "chip", "axes", "constraints", "workloads", "random", "limit"});
  Sweep out{.title = root.require("title").text(),
            .about = root.string_or("about", ""),
            .chip = root.string_or("chip", ""),
            .axes = {},
            .constraints = {},
            .workloads = {},
            .random = {},
            .limit_seconds = root.integer_or("limit", 600, 1, 1'000'000)};
  size_t combinations = 1;
  for (const Node& node : root.require("axes").items()) {
    out.axes.push_back(read_axis(node, out.axes));
    combinations *= std::max<size_t>(1, out.axes.back().values.size());
    if (combinations > kMostCombinations) node.fail("the grid has more than 1000000 points");
  }
  const bool varies = std::ranges::any_of(out.axes, [](const auto& a) { return a.knob == "chip"; });
  if (varies == root.has("chip"))
    root.fail("a sweep says 'chip' once: as a key, or as the knob of an axis");
  if (root.has("constraints"))
    for (const Node& node : root.require("constraints").items()) {
      out.constraints.push_back(expression(node, out.axes));
      if (!out.constraints.back().is_claim()) node.fail("a constraint compares: 'A <= B'");
    }
  for (const Node& node : root.require("workloads").items()) {
    out.workloads.push_back(read_workload(node));
    for (size_t i = 0; i + 1 < out.workloads.size(); ++i)
      if (out.workloads[i].name == out.workloads.back().name)
        node.fail("the name " + in_quotes(out.workloads[i].name) + " is taken");
  }
  if (out.workloads.empty()) root.require("workloads").fail("a sweep needs a workload");
  if (root.has("random")) {
    const Node& node = root.require("random");
    node.only({"points", "seed"});
    out.random = RandomSearch{.points = node.integer_at("points", 1, int64_t(kMostCombinations)),
                              .seed = node.integer_or("seed", 1, 0, int64_t{1} << 53)};
  }
  return out;
}

double number_of(const Setting& setting, const MetricReference& reference) {
  double value = 0;
  const char* end = setting.value.data() + setting.value.size();
  const auto result = std::from_chars(setting.value.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end)
    throw UserError(reference.at, in_quotes(setting.value) + ", a value of " +
                                      in_quotes(reference.metric) + ", is no number");
  return value;
}

// Steele, Lea and Flood's splitmix64: one number per state.
uint64_t random_number(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

std::vector<std::vector<Setting>> Sweep::points() const {
  size_t combinations = 1;
  for (const auto& axis : axes) combinations *= std::max<size_t>(1, axis.values.size());
  std::vector<size_t> order(combinations);
  std::iota(order.begin(), order.end(), size_t{0});
  if (random) {
    auto state = uint64_t(random->seed);
    for (size_t left = combinations; left > 1; --left)
      std::swap(order[left - 1], order[random_number(state) % left]);
  }
  std::vector<std::vector<Setting>> out;
  for (const size_t point : order) {
    if (random && out.size() == size_t(random->points)) break;
    std::vector<Setting> settings;
    const auto lookup = [&](const MetricReference& reference) {
      const auto names = names_of(axes);
      const auto at = size_t(std::ranges::find(names, reference.metric) - names.begin());
      return Expression::Values{number_of(settings.at(at), reference)};
    };
    size_t below = combinations, rest = point;
    for (const auto& axis : axes) {
      std::string text;
      if (axis.follows) {
        text = number_text(axis.follows->evaluate(lookup).at(0));
      } else {
        below /= axis.values.size();
        text = axis.values[rest / below];
        rest %= below;
      }
      settings.push_back({axis.knob, text, axis.at});
    }
    if (std::ranges::all_of(constraints, [&](const auto& c) { return c.holds(lookup); }))
      out.push_back(std::move(settings));
  }
  return out;
}

Sweep read_sweep_text(const std::string& text, const std::string& name) {
  return read(load_yaml_text(text, name));
}

Sweep read_sweep(const std::string& path) {
  const Located located = locate(path, "sweeps", ".yaml");
  return read_sweep_text(read_file(located.path), located.shown);
}

}  // namespace daybreak::configs
