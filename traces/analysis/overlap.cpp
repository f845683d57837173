#include "traces/analysis/overlap.hpp"

#include <algorithm>

namespace daybreak::traces {
namespace {

int32_t bit_of(std::string_view kind) {
  const std::string_view word = kind.substr(kind.rfind('.') + 1);
  if (word == "matrix") return 1;
  if (word == "vector") return 2;
  return word == "dma_in" || word == "dma_out" ? 4 : 0;
}

}  // namespace

void OverlapAccount::unit(const UnitInfo& u) {
  if (size_t(u.id) >= bit_.size()) bit_.resize(size_t(u.id) + 1, 0), core_.resize(bit_.size(), -1);
  bit_[size_t(u.id)] = bit_of(u.kind);
  core_[size_t(u.id)] = u.core;
}

void OverlapAccount::span(const UnitSpan& s) {
  if (s.cause != Cause::busy || bit_[size_t(s.unit)] == 0) return;
  std::vector<Edge>& edges = edges_[core_[size_t(s.unit)]];
  edges.push_back({s.begin, bit_[size_t(s.unit)], 1});
  edges.push_back({s.end, bit_[size_t(s.unit)], -1});
}

void OverlapAccount::instruction(const InstructionEvent& e) {
  if (bit_[size_t(e.unit)] == 4 && e.read_bytes > 0) load_cycles_ += e.retired - e.started;
}

void OverlapAccount::task(const TaskEvent& t) { task_cycles_ += t.ended - t.started; }

double OverlapAccount::loads_in_flight() const {
  return task_cycles_ == 0 ? 0 : double(load_cycles_) / double(task_cycles_);
}

std::array<int64_t, 8> OverlapAccount::cycles() const {
  std::array<int64_t, 8> out{};
  for (const auto& [core, unsorted] : edges_) {
    std::vector<Edge> edges = unsorted;
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
    std::array<int32_t, 3> working{};
    int64_t from = 0;
    for (const Edge& e : edges) {
      const unsigned set =
          unsigned(working[0] > 0) | unsigned(working[1] > 0) << 1 | unsigned(working[2] > 0) << 2;
      out[set] += e.at - from;
      from = e.at;
      working[e.unit == 4 ? 2 : size_t(e.unit - 1)] += e.change;
    }
  }
  out[0] = task_cycles_;
  for (size_t i = 1; i < out.size(); ++i) out[0] -= out[i];
  return out;
}

std::string OverlapAccount::name_of_set(unsigned set) {
  if (set == 0) return "nothing";
  std::string out;
  for (const auto& [bit, name] : {std::pair{1u, "matrix"}, {2u, "vector"}, {4u, "DMA"}})
    if (set & bit) out += (out.empty() ? "" : " + ") + std::string(name);
  return out;
}

}  // namespace daybreak::traces
