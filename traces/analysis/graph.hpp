// A run as a graph. Nodes are moments (an instruction started, the scheduler finished a job), an
// edge says that one moment cannot come earlier than another plus the cycles of its parts. A node's
// time is the latest of what its edges ask for, plus `extra`, what the run took beyond all of them.
// With unchanged parts the graph therefore gives back the run's own times; with changed ones it
// predicts a run in which everything else keeps its order.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "traces/analysis/step.hpp"

namespace daybreak::traces {

using NodeId = uint32_t;

struct Part {
  Step step = Step::other;
  int64_t cycles = 0;
  bool operator==(const Part&) const = default;
};

// Whose moment it is.
struct Place {
  int32_t launch = -1;  // -1: nobody's
  int32_t unit = -1;    // index of the unit's kind in the graph's list; -1: none
  bool operator==(const Place&) const = default;
};

class Graph {
 public:
  NodeId node(Place, int64_t time);
  void edge(NodeId from, NodeId to, std::initializer_list<Part> parts = {});
  void edge(NodeId from, NodeId to, std::span<const Part> parts);
  // Orders the nodes and works out what is extra. Call once, after the last edge. Throws
  // InvariantError on a circle.
  void seal(NodeId end);

  size_t nodes() const { return time_.size(); }
  int64_t time(NodeId n) const { return time_[n]; }
  Place place(NodeId n) const { return place_[n]; }
  int64_t cycles() const { return time_[end_]; }
  // Edges that asked for more than the run took: the builder misread the run.
  size_t contradictions() const { return contradictions_; }

  // The end's time when an edge's parts cost `weight(parts)` cycles, and `extra(cycles)` of what
  // is beyond the edges.
  template <class W, class E> int64_t finish(W&& weight, E&& extra) const {
    std::vector<int64_t> at(nodes(), 0);
    for (const NodeId n : order_) {
      int64_t latest = 0;
      for (const Edge& e : edges_of(n)) latest = std::max(latest, at[e.from] + weight(parts(e)));
      at[n] = latest + extra(extra_[n]);
    }
    return at[end_];
  }

  // From the end back along the edges that decided: pieces in the order of time, neighbours of one
  // place and step joined. Their cycles add up to cycles().
  struct Piece {
    Place place;
    Step step = Step::other;
    int64_t begin = 0, end = 0;
  };
  std::vector<Piece> critical_path() const;

  // By how many cycles each node may be late without delaying the end.
  std::vector<int64_t> slack() const;

 private:
  struct Edge {
    NodeId from = 0, to = 0;
    uint32_t first = 0, count = 0;  // in parts_
  };
  std::span<const Edge> edges_of(NodeId n) const {
    return std::span(edges_).subspan(begin_[n], begin_[n + 1] - begin_[n]);
  }
  std::span<const Part> parts(const Edge& e) const {
    return std::span(parts_).subspan(e.first, e.count);
  }
  int64_t sum(const Edge& e) const {
    int64_t cycles = 0;
    for (const Part& p : parts(e)) cycles += p.cycles;
    return cycles;
  }
  void sort_edges();
  void order_nodes();

  std::vector<int64_t> time_, extra_;
  std::vector<Place> place_;
  std::vector<Edge> edges_;  // by `to` once sealed, else as they came
  std::vector<Part> parts_;
  std::vector<uint32_t> begin_;
  std::vector<NodeId> order_;
  NodeId end_ = 0;
  size_t contradictions_ = 0;
};

}  // namespace daybreak::traces
