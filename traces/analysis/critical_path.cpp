#include "traces/analysis/critical_path.hpp"

#include <limits>
#include <map>

namespace daybreak::traces {
namespace {

// Far below any time of a run: an edge of this weight decides nothing.
constexpr int64_t kLifted = std::numeric_limits<int64_t>::min() / 4;

std::vector<CriticalPath::Piece> named_pieces(const RunGraph& run) {
  std::vector<CriticalPath::Piece> out;
  bool late_slot = false;  // in a load that waited for its slot
  for (const Graph::Piece& p : run.graph.critical_path()) {
    const std::string unit(run.word(p.place.unit));
    const bool moves = unit == "dma_in";
    late_slot = moves && (late_slot || p.step == Step::ring_slot);
    const Step step = late_slot ? Step::ring_slot : p.step;
    const int32_t launch = p.place.launch;
    if (!out.empty() && out.back().launch == launch && out.back().unit == unit &&
        out.back().step == step) {
      out.back().end = p.end;
      continue;
    }
    out.push_back({.launch = launch,
                   .kernel = launch < 0 ? std::string() : run.facts.kernel(launch),
                   .unit = unit,
                   .step = step,
                   .begin = p.begin,
                   .end = p.end});
  }
  return out;
}

std::vector<CriticalPath::Slack> slack_of(const RunGraph& run) {
  const std::vector<int64_t> slack = run.graph.slack();
  std::map<std::pair<int32_t, int32_t>, int64_t> least;  // by launch and unit kind
  for (NodeId n = 0; n < slack.size(); ++n) {
    const Place p = run.graph.place(n);
    if (p.launch < 0 || p.unit < 0) continue;
    const auto [at, fresh] = least.try_emplace({p.launch, p.unit}, slack[n]);
    if (!fresh) at->second = std::min(at->second, slack[n]);
  }
  std::vector<CriticalPath::Slack> out;
  for (const auto& [at, cycles] : least)
    out.push_back({run.facts.kernel(at.first), std::string(run.word(at.second)), cycles});
  return out;
}

void sort_rows(std::vector<CriticalPath::Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.cycles != b.cycles ? a.cycles > b.cycles : a.gain > b.gain;
  });
}

}  // namespace

int64_t cycles_without(const RunGraph& run, const std::vector<Step>& free) {
  std::array<bool, kSteps> is_free{};
  for (const Step s : free) is_free[size_t(s)] = true;
  const auto weight = [&](std::span<const Part> parts) {
    int64_t cycles = 0;
    for (const Part& p : parts) {
      if (!is_free[size_t(p.step)])
        cycles += p.cycles;
      else if (is_limit(p.step))
        return kLifted;
    }
    return cycles;
  };
  const bool extra = !is_free[size_t(Step::other)];
  return run.graph.finish(weight, [&](int64_t cycles) { return extra ? cycles : 0; });
}

std::vector<int64_t> path_cycles(const CriticalPath& path, int64_t launch) {
  std::vector<int64_t> out(kSteps, 0);
  for (const CriticalPath::Piece& p : path.pieces)
    if (p.launch == launch) out[size_t(p.step)] += p.end - p.begin;
  return out;
}

CriticalPath critical_path(const RunGraph& run) {
  CriticalPath out;
  out.cycles = run.graph.cycles();
  out.pieces = named_pieces(run);
  std::array<int64_t, kSteps> on_path{};
  for (const auto& p : out.pieces) on_path[size_t(p.step)] += p.end - p.begin;
  std::vector<std::string_view> names;
  for (size_t i = 0; i < kSteps; ++i) {
    const StepInfo& info = kStepInfo[i];
    if (std::find(names.begin(), names.end(), info.who) == names.end()) names.push_back(info.who);
    const int64_t gain = out.cycles - cycles_without(run, {Step(i)});
    if (on_path[i] > 0 || gain > 0) out.steps.push_back({info.name, on_path[i], gain, info.knobs});
  }
  for (const std::string_view who : names) {
    CriticalPath::Row row{.name = who};
    std::vector<Step> all;
    for (size_t i = 0; i < kSteps; ++i) {
      if (kStepInfo[i].who != who) continue;
      all.push_back(Step(i));
      row.cycles += on_path[i];
    }
    row.gain = out.cycles - cycles_without(run, all);
    if (row.cycles > 0 || row.gain > 0) out.whos.push_back(row);
  }
  sort_rows(out.steps);
  sort_rows(out.whos);
  out.slack = slack_of(run);
  return out;
}

}  // namespace daybreak::traces
