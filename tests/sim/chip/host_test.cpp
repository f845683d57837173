// Loading over the host link: closed forms of a pipeline of two stages.
#include "sim/chip/host.hpp"

#include <gtest/gtest.h>

namespace daybreak::sim {
namespace {

HostConfig host(double storage, double link, double latency_us = 0) {
  HostConfig h = ChipConfig().host;
  h.storage = storage, h.link = link, h.link_latency_us = latency_us, h.memory = 100;
  return h;
}

TEST(Host, TheSlowerStageSetsTheTimeOfALoad) {
  const int64_t piece = 1'000'000, n = 50;
  // Every piece waits for storage, the last one then crosses the link; and the other way round.
  EXPECT_NEAR(load_seconds(host(10, 40), n * piece, piece), (50 / 10.0 + 1 / 40.0) * 1e-3, 1e-12);
  EXPECT_NEAR(load_seconds(host(40, 10), n * piece, piece), (1 / 40.0 + 50 / 10.0) * 1e-3, 1e-12);
  // A last piece of a tenth, which waits for the one before it; a file that is one piece.
  EXPECT_NEAR(load_seconds(host(10, 40), n * piece + piece / 10, piece),
              (50 / 10.0 + 1.1 / 40.0) * 1e-3, 1e-12);
  EXPECT_NEAR(load_seconds(host(10, 40, 3), piece, n * piece), (0.1 + 0.025) * 1e-3 + 3e-6, 1e-12);
  EXPECT_EQ(load_seconds(host(10, 40, 3), 0, piece), 0);
}

TEST(Host, PeakMemoryAndConversionBeforehand) {
  EXPECT_EQ(load_peak_bytes(1000, 10), 1020);
  EXPECT_EQ(load_peak_bytes(15, 10), 30);
  EXPECT_EQ(load_peak_bytes(0, 10), 0);
  EXPECT_NEAR(convert_seconds(host(20, 1), 3'000'000'000, 5'000'000'000), 0.4, 1e-12);
  EXPECT_NEAR(convert_seconds(host(400, 1), 3'000'000'000, 5'000'000'000), 0.08, 1e-12);
}

}  // namespace
}  // namespace daybreak::sim
