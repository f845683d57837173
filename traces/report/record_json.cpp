// The JSON form of a RunRecord. ordered_json keeps the order in which keys are set.
#include <cmath>
#include <nlohmann/json.hpp>

#include "traces/report/record.hpp"

namespace daybreak::traces {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no NaN and no infinity: they become words.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

// Shares and derived times: six digits tell any two runs apart that differ in a cycle of a million.
Json rounded(double value) {
  return number(std::isfinite(value) ? std::round(value * 1e6) / 1e6 : value);
}

Json facts(const std::vector<Fact>& list) {
  Json out = Json::object();
  for (const Fact& f : list) out[f.name] = f.value;
  return out;
}

Json causes(const CauseCycles& cycles) {
  Json out = Json::object();
  for (size_t i = 0; i < cycles.size(); ++i)
    if (cycles[i] != 0) out[std::string(name_of(Cause(i)))] = cycles[i];
  return out;
}

Json waterfall_json(const Waterfall& w) {
  return {{"unit", w.unit}, {"floor", w.floor},       {"layout", w.layout}, {"issue", w.issue},
          {"sync", w.sync}, {"dispatch", w.dispatch}, {"actual", w.actual}};
}

Json kernel_json(const KernelRow& k) {
  Json busy = Json::object(), stalls = Json::object(), memory = Json::object();
  for (const auto& [name, member] : kMemoryCounts) memory[name] = k.memory.*member;
  for (const BusyShare& b : k.busy) busy[b.unit] = rounded(b.share);
  for (const UnitStalls& s : k.stalls)
    stalls[s.unit] = {{"units", s.units}, {"cycles", causes(s.cycles)}};
  return {
      {"kernel", k.kernel},
      {"launch", k.launch},
      {"tasks", k.tasks},
      {"cores", k.cores},
      {"cycles", k.cycles},
      {"us", rounded(k.microseconds)},
      {"hbm_read_bytes", k.hbm_read_bytes},
      {"hbm_write_bytes", k.hbm_write_bytes},
      {"read_bytes", k.read_bytes},
      {"write_bytes", k.write_bytes},
      {"memory", memory},
      {"useful_bytes", k.useful_bytes},
      {"useful_flop", number(k.useful_flop)},
      {"hbm_floor_cycles", rounded(k.hbm_floor_cycles)},
      {"matrix_floor_cycles", rounded(k.matrix_floor_cycles)},
      {"hbm_floor_share", rounded(k.hbm_floor_share)},
      {"matrix_floor_share", rounded(k.matrix_floor_share)},
      {"useful_share", rounded(k.useful_share)},
      {"busy", busy},
      {"stalls", stalls},
      {"top_stall",
       {{"unit", k.top_stall_unit}, {"cause", k.top_stall}, {"share", rounded(k.top_stall_share)}}},
      {"waterfall", waterfall_json(k.waterfall)}};
}

Json verdict_json(const VerdictRow& v) {
  Json metrics = Json::object();
  for (const Metric& m : v.metrics) metrics[m.name] = number(three_digits(m.value));
  return {{"name", v.name},
          {"pass", v.pass},
          {"metrics", metrics},
          {"tolerance", v.tolerance},
          {"worst", v.worst}};
}

Json totals_json(const Totals& t) {
  return {{"launches", t.launches},
          {"tasks", t.tasks},
          {"cycles", t.cycles},
          {"us", rounded(t.microseconds)},
          {"hbm_bytes", t.hbm_bytes},
          {"hbm_floor_share", rounded(t.hbm_floor_share)},
          {"matrix_floor_share", rounded(t.matrix_floor_share)},
          {"useful_share", rounded(t.useful_share)}};
}

}  // namespace

std::string to_json(const RunRecord& r) {
  Json seeds = Json::object(), kernels = Json::array(), verdicts = Json::array(),
       assumed = Json::array();
  for (const Seed& s : r.seeds) seeds[s.name] = s.value;
  for (const KernelRow& k : r.kernels) kernels.push_back(kernel_json(k));
  for (const VerdictRow& v : r.verdicts) verdicts.push_back(verdict_json(v));
  for (const Assumed& a : r.assumed)
    assumed.push_back({{"what", a.what}, {"value", a.value}, {"source", a.source}});
  const Json out = {
      {"daybreak", r.version},
      {"verb", r.verb},
      {"model", facts(r.model)},
      {"workload", facts(r.workload)},
      {"chip", {{"name", r.chip}, {"knobs", r.chip_hash}, {"clock_hz", number(r.clock_hz)}}},
      {"values", r.values},
      {"seeds", seeds},
      {"kernels", kernels},
      {"totals", totals_json(r.totals)},
      {"verdicts", verdicts},
      {"pass", r.pass()},
      {"assumed", assumed}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace daybreak::traces
