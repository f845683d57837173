#include "configs/reader/study.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "configs/reader/loader.hpp"
#include "configs/reader/words.hpp"

namespace daybreak::configs {
namespace {

constexpr size_t kMostRuns = 10000;

// One `over` entry: what it changes and the values it goes through.
struct Axis {
  std::string target;  // "args.context", "set.chip.cores", "chip", "values", "index"
  std::vector<const Node*> values;
};

bool is_name(const std::string& text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

std::string part_of_name(const std::string& value) {
  std::string out = value;
  for (char& c : out)
    if (!is_name({'_', c})) c = '_';
  return out;
}

void set_argument(StudyRun& run, const std::string& key, const std::string& value) {
  for (auto& [known, old] : run.args)
    if (known == key) {
      old = value;
      return;
    }
  run.args.emplace_back(key, value);
}

void set_setting(StudyRun& run, const std::string& path, const Node& value) {
  const std::string full = path.rfind("chip.", 0) == 0 ? path : "chip." + path;
  for (auto& setting : run.set)
    if (setting.path == full) {
      setting = {full, value.text(), value.at()};
      return;
    }
  run.set.push_back({full, value.text(), value.at()});
}

// Keys that runs, grids and defaults share.
void read_common(const Node& node, StudyRun& run) {
  if (node.has("chip")) run.chip = node.string_at("chip");
  if (node.has("values")) run.values = node.require("values").word({"full", "steering"});
  if (node.has("index")) run.index = node.string_at("index");
  if (node.has("routing")) run.routing = node.string_at("routing");
  if (node.has("args")) {
    const Node& args = node.require("args");
    for (size_t i = 0; i < args.keys().size(); ++i)
      set_argument(run, args.keys()[i].name, args.values()[i].text());
  }
  if (node.has("set")) {
    const Node& set = node.require("set");
    for (size_t i = 0; i < set.keys().size(); ++i)
      set_setting(run, set.keys()[i].name, set.values()[i]);
  }
}

class StudyReader {
 public:
  Study read(const Node& root) {
    root.only({"title", "about", "defaults", "runs", "grids", "table", "verdicts"});
    study_.title = root.require("title").text();
    if (root.has("about")) study_.about = root.require("about").text();
    if (root.has("defaults")) {
      const Node& defaults = root.require("defaults");
      defaults.only({"chip", "values", "index", "routing", "args", "set"});
      read_common(defaults, base_);
    }
    if (root.has("runs"))
      for (const Node& node : root.require("runs").items()) single(node);
    if (root.has("grids"))
      for (const Node& node : root.require("grids").items()) grid(node);
    if (study_.runs.empty()) root.fail("a study needs at least one entry in 'runs' or 'grids'");
    if (root.has("table"))
      for (const Node& node : root.require("table").items()) column(node);
    if (root.has("verdicts"))
      for (const Node& node : root.require("verdicts").items()) verdict(node);
    return std::move(study_);
  }

 private:
  StudyRun start(const Node& node) {
    StudyRun run = base_;
    run.at = node.at();
    const Node& name = node.require("name");
    run.name = name.text();
    if (!is_name(run.name))
      name.fail("a name is made of letters, digits and _ and starts with no digit; got " +
                in_quotes(run.name));
    if (node.has("kernel") == node.has("day0"))
      node.fail("the run " + in_quotes(run.name) + " needs one of 'kernel' and 'day0'");
    if (node.has("kernel"))
      run.kernel = node.string_at("kernel");
    else
      run.model = node.string_at("day0");
    read_common(node, run);
    return run;
  }

  void add(StudyRun run, const Node& where) {
    if (study_.runs.size() == kMostRuns)
      where.fail("a study may have up to " + std::to_string(kMostRuns) + " runs");
    if (!names_.insert(run.name).second)
      where.fail("the name " + in_quotes(run.name) + " is taken");
    study_.groups.push_back({run.name, {study_.runs.size()}});
    study_.runs.push_back(std::move(run));
  }

  void single(const Node& node) {
    node.only({"name", "kernel", "day0", "args", "chip", "set", "values", "index", "routing"});
    add(start(node), node);
  }

  std::vector<Axis> axes(const Node& over) const {
    std::vector<Axis> out;
    const std::vector<std::string> words = {"chip", "values", "index", "routing"};
    for (size_t i = 0; i < over.keys().size(); ++i) {
      const Key& key = over.keys()[i];
      const bool path = (key.name.rfind("args.", 0) == 0 && key.name.size() > 5) ||
                        (key.name.rfind("set.", 0) == 0 && key.name.size() > 4);
      if (!path && std::find(words.begin(), words.end(), key.name) == words.end())
        throw UserError(over.at(key), "unknown key " + in_quotes(key.name) +
                                          " in 'over'; allowed are args.NAME, set.KNOB, " +
                                          any_of(words));
      Axis axis{.target = key.name, .values = {}};
      for (const Node& value : over.values()[i].items()) axis.values.push_back(&value);
      if (axis.values.empty()) over.values()[i].fail(in_quotes(key.name) + " must list a value");
      out.push_back(std::move(axis));
    }
    if (out.empty()) over.fail("'over' must name at least one list");
    return out;
  }

  static void apply(StudyRun& run, const std::string& target, const Node& value) {
    if (target == "chip")
      run.chip = value.string();
    else if (target == "values")
      run.values = value.word({"full", "steering"});
    else if (target == "index")
      run.index = value.string();
    else if (target == "routing")
      run.routing = value.string();
    else if (target[0] == 'a')
      set_argument(run, target.substr(5), value.text());
    else
      set_setting(run, target.substr(4), value);
    run.name.append("_").append(part_of_name(value.text()));
  }

  void grid(const Node& node) {
    node.only(
        {"name", "kernel", "day0", "args", "chip", "set", "values", "index", "routing", "over"});
    const StudyRun pattern = start(node);
    const Node& over = node.require("over");
    const auto lists = axes(over);
    size_t points = 1;
    for (const auto& axis : lists) {
      points *= axis.values.size();
      if (points > kMostRuns)
        over.fail("the grid has more than " + std::to_string(kMostRuns) + " points");
    }
    StudyGroup group{pattern.name, {}};
    if (!names_.insert(pattern.name).second)
      node.fail("the name " + in_quotes(pattern.name) + " is taken");
    for (size_t point = 0; point < points; ++point) {
      StudyRun run = pattern;
      size_t below = points, rest = point;
      for (const auto& axis : lists) {
        below /= axis.values.size();
        apply(run, axis.target, *axis.values[rest / below]);
        rest %= below;
      }
      group.runs.push_back(study_.runs.size());
      add(std::move(run), node);
    }
    study_.groups.push_back(std::move(group));
  }

  // The place of an expression's first character; a quoted one starts behind its quote.
  static Expression expression(const Node& node) {
    Position at = node.at();
    if (node.is_text()) ++at.column;
    return Expression::parse(node.text(), at);
  }

  void column(const Node& node) {
    node.only({"title", "value", "digits"});
    StudyColumn column{.title = node.require("title").text(),
                       .value = expression(node.require("value")),
                       .digits = int(node.integer_or("digits", 1, 0, 12))};
    check_names(column.value);
    study_.columns.push_back(std::move(column));
  }

  void verdict(const Node& node) {
    node.only({"name", "holds"});
    StudyVerdict verdict{.name = node.require("name").text(),
                         .holds = expression(node.require("holds"))};
    if (!verdict.holds.is_claim())
      node.require("holds").fail("a verdict compares: 'A <= B', or such claims with 'and', 'or'");
    for (const auto& reference : verdict.holds.references())
      if (reference.run.empty())
        throw UserError(reference.at,
                        "in a verdict, a metric needs its run: NAME." + reference.metric);
    check_names(verdict.holds);
    study_.verdicts.push_back(std::move(verdict));
  }

  void check_names(const Expression& expression) const {
    for (const auto& reference : expression.references()) {
      if (reference.run.empty() || study_.group(reference.run)) continue;
      std::vector<std::string> known;
      for (const auto& group : study_.groups) known.push_back(group.name);
      const std::string hint = did_you_mean(reference.run, known);
      throw UserError(
          reference.at,
          "there is no run or grid " + in_quotes(reference.run) +
              (hint.empty() && known.size() <= 12 ? "; allowed are " + any_of(known) : hint));
    }
  }

  Study study_;
  StudyRun base_;
  std::set<std::string> names_;
};

// The run's own argument as a number.
std::optional<double> argument(const StudyRun& run, const std::string& name) {
  for (const auto& [key, text] : run.args) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, value);
    if (key == name && result.ec == std::errc{} && result.ptr == end) return value;
  }
  return std::nullopt;
}

}  // namespace

const StudyGroup* Study::group(const std::string& name) const {
  for (const auto& group : groups)
    if (group.name == name) return &group;
  return nullptr;
}

Expression::Lookup Study::lookup(Metric metric, size_t row) const {
  return [this, metric = std::move(metric), row](const MetricReference& reference) {
    std::vector<size_t> members = {row};
    if (!reference.run.empty()) {
      const StudyGroup* found = group(reference.run);
      if (!found) throw UserError(reference.at, "there is no run " + in_quotes(reference.run));
      members = found->runs;
    }
    Expression::Values out;
    for (const size_t run : members) {
      auto value = metric(run, reference.metric);
      if (!value) value = argument(runs.at(run), reference.metric);
      if (!value)
        throw UserError(reference.at, "the run " + in_quotes(runs.at(run).name) +
                                          " has no metric " + in_quotes(reference.metric));
      out.push_back(*value);
    }
    return out;
  };
}

Expression::Lookup Study::lookup(Metric metric) const { return lookup(std::move(metric), 0); }

Study read_study_text(const std::string& text, const std::string& name) {
  return StudyReader().read(load_yaml_text(text, name));
}

Study read_study(const std::string& path) {
  const Located located = locate(path, "studies", ".yaml");
  return StudyReader().read(load_yaml_text(read_file(located.path), located.shown));
}

}  // namespace daybreak::configs
