// Vector clocks against sets of facts.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "sim/core/knowledge.hpp"
#include "sim/core/launch_order.hpp"

namespace daybreak::sim::test {
namespace {

TEST(Knowledge, JoinIsTheUnionOfFacts) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::map<std::pair<uint32_t, int>, Sequence> expected;
    ForeignRef joined;
    for (int part = 0; part < 4; ++part) {
      auto f = std::make_shared<Foreign>();
      for (uint32_t task = 0; task < 12; ++task) {
        if (random() % 2) continue;
        Sequences s{};
        for (int q = 0; q < isa::kQueues; ++q) {
          s[q] = random() % 20;
          auto& e = expected[{task, q}];
          e = std::max(e, s[q]);
        }
        f->emplace_back(task, s);
      }
      joined = join(joined, f);
    }
    const Knowledge k{.seen = {}, .foreign = joined};
    for (uint32_t task = 0; task < 14; ++task)
      for (int q = 0; q < isa::kQueues; ++q)
        for (Sequence s = 1; s < 21; ++s) {
          const auto at = expected.find({task, q});
          EXPECT_EQ(k.knows(task, isa::Queue(q), s), at != expected.end() && at->second >= s);
        }
  }
}

// Against reachability by search on random graphs.
TEST(LaunchOrder, IsReachability) {
  std::mt19937 random(11);
  for (int round = 0; round < 50; ++round) {
    const uint32_t n = 1 + random() % 90;
    std::vector<isa::Launch> launches(n);
    for (uint32_t l = 0; l < n; ++l) {
      launches[l].stream = random() % 5;
      for (int k = 0; k < 2 && l > 0; ++k)
        if (random() % 3 == 0) launches[l].after.push_back(random() % l);
    }
    const LaunchOrder order(launches);
    for (uint32_t b = 0; b < n; ++b) {
      std::vector<bool> reached(n);
      std::vector<uint32_t> todo{b};
      while (!todo.empty()) {
        const uint32_t at = todo.back();
        todo.pop_back();
        std::vector<uint32_t> before = launches[at].after;
        for (uint32_t p = at; p-- > 0;)
          if (launches[p].stream == launches[at].stream) {
            before.push_back(p);
            break;
          }
        for (uint32_t p : before)
          if (!reached[p]) {
            reached[p] = true;
            todo.push_back(p);
          }
      }
      for (uint32_t a = 0; a < n; ++a) EXPECT_EQ(order.before(a, b), reached[a]) << a << " " << b;
    }
  }
}

}  // namespace
}  // namespace daybreak::sim::test
