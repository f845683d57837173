#include "traces/event/traffic.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace daybreak::traces {
namespace {

TEST(Traffic, KeepsEveryByteInBoundedMemory) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    Traffic traffic(4, 16);
    int64_t sum = 0;
    for (int i = 0; i < 100; ++i) {
      const auto begin = int64_t(random() % 5000), length = int64_t(random() % 300);
      const auto bytes = int64_t(random() % 100000);
      traffic.add(begin, begin + length, bytes);
      sum += bytes;
    }
    EXPECT_LE(traffic.bytes().size(), 16u);
    EXPECT_EQ(std::accumulate(traffic.bytes().begin(), traffic.bytes().end(), int64_t{0}), sum);
  }
}

TEST(Traffic, SpreadsEvenlyAndFoldsPairsOfWindows) {
  Traffic traffic(10, 4);
  traffic.add(5, 25, 200);  // 10 bytes a cycle
  EXPECT_EQ(traffic.bytes(), (std::vector<int64_t>{50, 100, 50}));
  traffic.add(70, 70, 7);  // beyond 4 windows of 10: now of 20
  EXPECT_EQ(traffic.window(), 20);
  EXPECT_EQ(traffic.bytes(), (std::vector<int64_t>{150, 50, 0, 7}));
  traffic.add(0, 80, 8);
  EXPECT_EQ(traffic.bytes(), (std::vector<int64_t>{152, 52, 2, 9}));
}

TEST(Traffic, LargeNumbersDoNotOverflow) {
  Traffic traffic(1024, 8);
  traffic.add(0, int64_t{1} << 40, int64_t{1} << 50);
  EXPECT_EQ(std::accumulate(traffic.bytes().begin(), traffic.bytes().end(), int64_t{0}),
            int64_t{1} << 50);
}

}  // namespace
}  // namespace daybreak::traces
