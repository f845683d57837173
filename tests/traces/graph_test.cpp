// Graphs of random moments against a plain recursion over the same list of edges.
#include "traces/analysis/graph.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

#include "configs/reader/errors.hpp"

namespace daybreak::traces {
namespace {

struct RandomGraph {
  struct Edge {
    NodeId from, to;
    std::vector<Part> parts;
  };
  std::vector<int64_t> time, extra;
  std::vector<Edge> edges;
  Graph graph;

  explicit RandomGraph(uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto count = NodeId(2 + random() % 60);
    time.assign(count, 0), extra.assign(count, 0);
    for (NodeId n = 0; n < count; ++n) {
      int64_t latest = 0;
      for (uint64_t k = 0; n > 0 && k < random() % 4; ++k) {
        Edge e{.from = NodeId(random() % n), .to = n, .parts = {}};
        for (uint64_t p = 0; p < random() % 3; ++p)
          e.parts.push_back({Step(random() % kSteps), int64_t(random() % 30)});
        latest = std::max(latest, time[e.from] + sum(e));
        edges.push_back(std::move(e));
      }
      extra[n] = random() % 3 ? 0 : int64_t(random() % 20);
      time[n] = latest + extra[n];
    }
    for (NodeId n = 0; n < count; ++n) graph.node({int32_t(n % 3), int32_t(n % 2)}, time[n]);
    std::shuffle(edges.begin(), edges.end(), random);
    for (const Edge& e : edges) graph.edge(e.from, e.to, std::span<const Part>(e.parts));
    graph.seal(count - 1);
  }
  static int64_t sum(const Edge& e) {
    return std::accumulate(e.parts.begin(), e.parts.end(), int64_t{0},
                           [](int64_t s, const Part& p) { return s + p.cycles; });
  }
  // When `n` comes if steps cost `price` times their cycles and `late` node is delayed.
  int64_t when(NodeId n, const std::map<Step, int64_t>& price, NodeId late, int64_t by) const {
    int64_t latest = 0;
    for (const Edge& e : edges) {
      if (e.to != n) continue;
      int64_t cycles = 0;
      for (const Part& p : e.parts) {
        const auto at = price.find(p.step);
        cycles += p.cycles * (at == price.end() ? 1 : at->second);
      }
      latest = std::max(latest, when(e.from, price, late, by) + cycles);
    }
    return latest + extra[n] + (n == late ? by : 0);
  }
};

constexpr NodeId kNobody = ~NodeId(0);

TEST(Graph, FinishesWhenARecursionSaysSo) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const RandomGraph g(seed);
    const auto end = NodeId(g.time.size() - 1);
    EXPECT_EQ(g.graph.contradictions(), 0u);
    EXPECT_EQ(g.graph.cycles(), g.time.back());
    const auto same = [](int64_t extra) { return extra; };
    for (const int64_t factor : {0, 1, 3}) {
      const Step step = Step(seed % kSteps);
      const auto weight = [&](std::span<const Part> parts) {
        int64_t cycles = 0;
        for (const Part& p : parts) cycles += p.cycles * (p.step == step ? factor : 1);
        return cycles;
      };
      EXPECT_EQ(g.graph.finish(weight, same), g.when(end, {{step, factor}}, kNobody, 0)) << seed;
    }
  }
}

TEST(Graph, CriticalPathCoversTheWholeTime) {
  for (uint64_t seed = 100; seed < 200; ++seed) {
    const RandomGraph g(seed);
    int64_t at = 0;
    for (const Graph::Piece& p : g.graph.critical_path()) {
      EXPECT_EQ(p.begin, at) << seed;
      EXPECT_GT(p.end, p.begin);
      at = p.end;
    }
    EXPECT_EQ(at, g.graph.cycles()) << seed;
  }
}

TEST(Graph, SlackIsTheDelayThatDoesNotShow) {
  for (uint64_t seed = 200; seed < 240; ++seed) {
    const RandomGraph g(seed);
    const auto end = NodeId(g.time.size() - 1);
    const auto slack = g.graph.slack();
    for (NodeId n = 0; n < g.time.size(); ++n) {
      if (slack[n] > (int64_t{1} << 40)) {  // nothing follows it
        EXPECT_EQ(g.when(end, {}, n, 1 << 20), g.time.back()) << seed << " node " << n;
        continue;
      }
      EXPECT_EQ(g.when(end, {}, n, slack[n]), g.time.back()) << seed << " node " << n;
      EXPECT_EQ(g.when(end, {}, n, slack[n] + 1), g.time.back() + 1) << seed << " node " << n;
    }
  }
}

TEST(Graph, CountsEdgesThatTheRunContradicts) {
  Graph g;
  const NodeId a = g.node({}, 10), b = g.node({}, 15);
  g.edge(a, b, {{Step::issue, 6}});
  g.edge(a, b, {{Step::issue, 4}});
  g.seal(b);
  EXPECT_EQ(g.contradictions(), 1u);
  EXPECT_EQ(g.critical_path().back().step, Step::other);  // one cycle that no edge explains
}

TEST(Graph, RefusesACircle) {
  Graph g;
  const NodeId a = g.node({}, 5), b = g.node({}, 5);
  g.edge(a, b);
  g.edge(b, a);
  EXPECT_THROW(g.seal(b), InvariantError);
}

}  // namespace
}  // namespace daybreak::traces
