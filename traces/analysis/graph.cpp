#include "traces/analysis/graph.hpp"

#include <fmt/format.h>

#include <limits>

#include "configs/reader/errors.hpp"

namespace daybreak::traces {

NodeId Graph::node(Place place, int64_t time) {
  time_.push_back(time);
  place_.push_back(place);
  return NodeId(time_.size() - 1);
}

void Graph::edge(NodeId from, NodeId to, std::initializer_list<Part> parts) {
  edge(from, to, std::span(parts.begin(), parts.size()));
}

void Graph::edge(NodeId from, NodeId to, std::span<const Part> parts) {
  Edge e{.from = from, .to = to, .first = uint32_t(parts_.size()), .count = 0};
  for (const Part& p : parts)
    if (p.cycles != 0 || is_limit(p.step)) parts_.push_back(p), ++e.count;
  if (time_[from] + sum(e) > time_[to]) {
    ++contradictions_;
    parts_.resize(e.first);
    return;
  }
  edges_.push_back(e);
}

void Graph::sort_edges() {
  begin_.assign(nodes() + 1, 0);
  for (const Edge& e : edges_) ++begin_[e.to + 1];
  for (size_t n = 0; n < nodes(); ++n) begin_[n + 1] += begin_[n];
  std::vector<Edge> sorted(edges_.size());
  std::vector<uint32_t> at(begin_.begin(), begin_.end() - 1);
  for (const Edge& e : edges_) sorted[at[e.to]++] = e;
  edges_ = std::move(sorted);
}

void Graph::order_nodes() {
  std::vector<uint32_t> first(nodes() + 1, 0), missing(nodes(), 0), at;
  for (const Edge& e : edges_) ++first[e.from + 1], ++missing[e.to];
  for (size_t n = 0; n < nodes(); ++n) first[n + 1] += first[n];
  at.assign(first.begin(), first.end() - 1);
  std::vector<NodeId> next(edges_.size());
  for (const Edge& e : edges_) next[at[e.from]++] = e.to;
  for (NodeId n = 0; n < nodes(); ++n)
    if (missing[n] == 0) order_.push_back(n);
  for (size_t i = 0; i < order_.size(); ++i)
    for (uint32_t k = first[order_[i]]; k < first[order_[i] + 1]; ++k)
      if (--missing[next[k]] == 0) order_.push_back(next[k]);
  if (order_.size() != nodes())
    throw InvariantError(fmt::format("{} moments of the run depend on one another in a circle",
                                     nodes() - order_.size()));
}

void Graph::seal(NodeId end) {
  end_ = end;
  sort_edges();
  order_nodes();
  extra_.resize(nodes());
  for (NodeId n = 0; n < nodes(); ++n) {
    int64_t latest = 0;
    for (const Edge& e : edges_of(n)) latest = std::max(latest, time_[e.from] + sum(e));
    extra_[n] = time_[n] - latest;
  }
}

std::vector<Graph::Piece> Graph::critical_path() const {
  std::vector<Piece> back;  // latest first
  int64_t cursor = time_[end_];
  const auto add = [&](Place place, Step step, int64_t cycles) {
    if (cycles == 0) return;
    if (!back.empty() && back.back().place == place && back.back().step == step)
      back.back().begin -= cycles;
    else
      back.push_back({.place = place, .step = step, .begin = cursor - cycles, .end = cursor});
    cursor -= cycles;
  };
  for (NodeId n = end_;;) {
    add(place_[n], Step::other, extra_[n]);
    const Edge* deciding = nullptr;
    for (const Edge& e : edges_of(n))
      if (!deciding || time_[e.from] + sum(e) > time_[deciding->from] + sum(*deciding))
        deciding = &e;
    if (!deciding) break;
    const auto list = parts(*deciding);
    for (size_t i = list.size(); i-- > 0;) add(place_[n], list[i].step, list[i].cycles);
    n = deciding->from;
  }
  std::reverse(back.begin(), back.end());
  return back;
}

std::vector<int64_t> Graph::slack() const {
  std::vector<int64_t> late(nodes(), std::numeric_limits<int64_t>::max());
  late[end_] = time_[end_];
  for (size_t i = order_.size(); i-- > 0;) {
    const NodeId n = order_[i];
    if (late[n] == std::numeric_limits<int64_t>::max()) continue;
    for (const Edge& e : edges_of(n))
      late[e.from] = std::min(late[e.from], late[n] - extra_[n] - sum(e));
  }
  for (NodeId n = 0; n < nodes(); ++n)
    if (late[n] != std::numeric_limits<int64_t>::max()) late[n] -= time_[n];
  return late;
}

}  // namespace daybreak::traces
