#include "sim/cli/read_record.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "configs/reader/loader.hpp"

namespace daybreak::cli {
namespace {

using configs::Node;
using traces::Cause;

constexpr int64_t kMost = int64_t{1} << 62;

int64_t count(const Node& n, const char* key) { return n.integer_at(key, -kMost, kMost); }

double number(const Node& n) {
  if (!n.is_text()) return n.number();
  const std::string& word = n.word({"nan", "inf", "-inf"});
  if (word == "nan") return std::nan("");
  return word == "inf" ? INFINITY : -INFINITY;
}
double number(const Node& n, const char* key) { return number(n.require(key)); }

std::vector<traces::Fact> facts(const Node& n) {
  std::vector<traces::Fact> out;
  for (size_t i = 0; i < n.keys().size(); ++i)
    out.push_back({n.keys()[i].name, n.values()[i].text()});
  return out;
}

traces::CauseCycles causes(const Node& n) {
  traces::CauseCycles out{};
  std::vector<std::string> names;
  for (int i = 0; i < traces::kCauses; ++i) names.emplace_back(name_of(Cause(i)));
  n.only(names);
  for (size_t i = 0; i < names.size(); ++i)
    if (const Node* cycles = n.find(names[i])) out[i] = cycles->integer(0);
  return out;
}

traces::Waterfall waterfall(const Node& n) {
  return {.unit = n.require("unit").text(),
          .floor = count(n, "floor"),
          .layout = count(n, "layout"),
          .issue = count(n, "issue"),
          .sync = count(n, "sync"),
          .dispatch = count(n, "dispatch"),
          .actual = count(n, "actual")};
}

traces::KernelRow kernel(const Node& n) {
  traces::KernelRow k{.kernel = n.require("kernel").text(),
                      .launch = count(n, "launch"),
                      .tasks = count(n, "tasks"),
                      .cores = count(n, "cores"),
                      .cycles = count(n, "cycles"),
                      .microseconds = number(n, "us"),
                      .hbm_read_bytes = count(n, "hbm_read_bytes"),
                      .hbm_write_bytes = count(n, "hbm_write_bytes"),
                      .read_bytes = count(n, "read_bytes"),
                      .write_bytes = count(n, "write_bytes"),
                      .useful_bytes = count(n, "useful_bytes"),
                      .useful_flop = number(n, "useful_flop"),
                      .hbm_floor_cycles = number(n, "hbm_floor_cycles"),
                      .matrix_floor_cycles = number(n, "matrix_floor_cycles"),
                      .hbm_floor_share = number(n, "hbm_floor_share"),
                      .matrix_floor_share = number(n, "matrix_floor_share"),
                      .useful_share = number(n, "useful_share"),
                      .busy = {},
                      .stalls = {}};
  const Node& memory = n.require("memory");
  for (const auto& [name, member] : traces::kMemoryCounts) k.memory.*member = count(memory, name);
  const Node &busy = n.require("busy"), &stalls = n.require("stalls"),
             &top = n.require("top_stall");
  for (size_t i = 0; i < busy.keys().size(); ++i)
    k.busy.push_back({busy.keys()[i].name, number(busy.values()[i])});
  for (size_t i = 0; i < stalls.keys().size(); ++i)
    k.stalls.push_back({stalls.keys()[i].name, count(stalls.values()[i], "units"),
                        causes(stalls.values()[i].require("cycles"))});
  k.top_stall = top.require("cause").text();
  k.top_stall_unit = top.require("unit").text();
  k.top_stall_share = number(top, "share");
  k.waterfall = waterfall(n.require("waterfall"));
  return k;
}

traces::VerdictRow verdict(const Node& n) {
  traces::VerdictRow v{.name = n.require("name").text(),
                       .pass = n.flag_at("pass"),
                       .metrics = {},
                       .tolerance = n.require("tolerance").text(),
                       .worst = n.require("worst").text()};
  const Node& metrics = n.require("metrics");
  for (size_t i = 0; i < metrics.keys().size(); ++i)
    v.metrics.push_back({metrics.keys()[i].name, number(metrics.values()[i])});
  return v;
}

traces::Totals totals(const Node& n) {
  return {.launches = count(n, "launches"),
          .tasks = count(n, "tasks"),
          .cycles = count(n, "cycles"),
          .microseconds = number(n, "us"),
          .hbm_bytes = count(n, "hbm_bytes"),
          .hbm_floor_share = number(n, "hbm_floor_share"),
          .matrix_floor_share = number(n, "matrix_floor_share"),
          .useful_share = number(n, "useful_share")};
}

std::string file_of(const std::string& folder, const char* name, const char* hint) {
  const std::string path = folder + "/" + name;
  if (!std::filesystem::exists(path))
    throw UserError(fmt::format("{}: there is no {} in it; {}", folder, name, hint));
  return path;
}

}  // namespace

traces::RunRecord read_record(const std::string& path) {
  const Node n = configs::load_file(path);
  const Node &chip = n.require("chip"), &seeds = n.require("seeds");
  traces::RunRecord r{.version = n.require("daybreak").text(),
                      .verb = n.require("verb").text(),
                      .model = facts(n.require("model")),
                      .workload = facts(n.require("workload")),
                      .chip = chip.require("name").text(),
                      .chip_hash = chip.require("knobs").text(),
                      .clock_hz = number(chip, "clock_hz"),
                      .values = n.require("values").text()};
  for (size_t i = 0; i < seeds.keys().size(); ++i)
    r.seeds.push_back({seeds.keys()[i].name, uint64_t(seeds.values()[i].integer(0))});
  for (const Node& k : n.require("kernels").items()) r.kernels.push_back(kernel(k));
  r.totals = totals(n.require("totals"));
  for (const Node& v : n.require("verdicts").items()) r.verdicts.push_back(verdict(v));
  for (const Node& a : n.require("assumed").items())
    r.assumed.push_back(
        {a.require("what").text(), a.require("value").text(), a.require("source").text()});
  return r;
}

std::string record_file(const std::string& folder) {
  return file_of(folder, "record.json", "day0 and run leave one with --out DIR");
}

std::string events_file(const std::string& folder) {
  return file_of(folder, "run.events",
                 "day0 and run leave one with --out DIR and --trace instruction");
}

}  // namespace daybreak::cli
