// Cost laws against figures worked out from spec/accelerator.md by hand.
#include <gtest/gtest.h>

#include "sim/units/matrix.hpp"
#include "sim/units/sort.hpp"
#include "sim/units/vector.hpp"
#include "tests/sim/rig.hpp"

namespace daybreak::sim::test {
namespace {

using isa::VectorClass;

TEST(MatrixCost, RoundsEveryDimensionUp) {
  const CoreConfig c = bench_config().core;
  const isa::Mma any{};
  EXPECT_EQ(matrix_cost(c, any, {.m = 1, .n = 1, .k = 1}).busy, 6 + 1);
  EXPECT_EQ(matrix_cost(c, any, {.m = 17, .n = 16, .k = 16}).busy, 6 + 2);
  EXPECT_EQ(matrix_cost(c, any, {.m = 64, .n = 64, .k = 576}).busy, 6 + 4 * 4 * 36);
  EXPECT_EQ(matrix_cost(c, any, {.m = 64, .n = 64, .k = 128, .mac_format = Format::e4m3}).busy,
            6 + 4 * 4 * 4);
}

TEST(MatrixCost, ScalesAreReadBeside) {
  const CoreConfig c = bench_config().core;
  const Cost cost = matrix_cost(c, isa::Mma{},
                                {.m = 16,
                                 .n = 16,
                                 .k = 32,
                                 .mac_format = Format::e4m3,
                                 .operand_bytes = 1024,
                                 .scale_bytes = 640});
  EXPECT_EQ(cost,
            (Cost{.busy = 7, .stalled = 13, .fixed = 6}));  // 640 / 32 = 20 beats 1024 / 256 = 4
}

TEST(MatrixCost, RefusesWhatTheUnitCannotMultiply) {
  CoreConfig c = bench_config().core;
  EXPECT_THROW(matrix_cost(c, isa::Mma{}, {.m = 1, .n = 1, .k = 1, .mac_format = Format::f32}),
               InvariantError);
  c.matrix.fp8 = false;
  EXPECT_THROW(matrix_cost(c, isa::Mma{}, {.m = 1, .n = 1, .k = 1, .mac_format = Format::e4m3}),
               InvariantError);
}

isa::Work of(VectorClass which, int64_t elements) {
  isa::Work w;
  w.elements[int(which)] = elements;
  return w;
}

TEST(VectorCost, ClassesHaveTheirRates) {
  const CoreConfig c = bench_config().core;  // 2 units of 64 lanes
  const isa::Fill any{};
  EXPECT_EQ(vector_cost(c, any, of(VectorClass::simple, 4096)).busy, 20 + 32);
  EXPECT_EQ(vector_cost(c, any, of(VectorClass::simple, 4097)).busy, 20 + 33);
  EXPECT_EQ(vector_cost(c, any, of(VectorClass::special, 4096)).busy, 20 + 128);
  EXPECT_EQ(vector_cost(c, any, of(VectorClass::reduce, 4096)).busy, 20 + 32);
  EXPECT_EQ(vector_cost(c, any, of(VectorClass::cast, 4096)).busy, 20 + 32);
  EXPECT_EQ(vector_cost(c, any, of(VectorClass::dequantise, 4096)).busy, 20 + 32);
}

TEST(VectorCost, AccumulatorPathStallsAndDelays) {
  const CoreConfig c = bench_config().core;
  isa::Work w = of(VectorClass::simple, 4096);
  w.accumulator_bytes = 16384;
  EXPECT_EQ(vector_cost(c, isa::Fill{}, w),
            (Cost{.busy = 52, .stalled = 96, .tail = 40, .fixed = 20}));
}

TEST(VectorCost, OperandsInOneBankMeet) {
  const CoreConfig c = bench_config().core;
  const auto at = [](uint32_t offset) {
    return tile(isa::Space::vector, Format::f32, offset, 64, 64);
  };
  // 16 banks of 32 B: offsets 0, 16384, 32768 are all bank 0
  const isa::Combine meet{.to = at(0), .a = at(16384), .b = at(32768)};
  const isa::Combine apart{.to = at(0), .a = at(16384 + 32), .b = at(32768 + 64)};
  const isa::Work w = of(VectorClass::simple, 4096);
  EXPECT_EQ(vector_cost(c, meet, w), (Cost{.busy = 52, .stalled = 64, .fixed = 20}));
  EXPECT_EQ(vector_cost(c, apart, w), (Cost{.busy = 52, .stalled = 0, .fixed = 20}));
}

TEST(SortCost, EveryPassPaysItsHead) {
  const SortConfig c = bench_config().core.sort;
  const isa::Work w{.sort32_records = 2048, .merge_records = 3 * 2048, .sort_passes = 4};
  EXPECT_EQ(sort_cost(c, isa::TopkBlock{}, w).busy, 4 * 20 + 1024 + 3072);
  const isa::Work x{.extract_records = 2048, .sort_passes = 1};
  EXPECT_EQ(sort_cost(c, isa::Extract{}, x).busy, 20 + 64);
}

TEST(SortCost, HistogramLooksAtEveryScorePerLevel) {
  SortConfig c = bench_config().core.sort;
  c.method = "histogram";
  const isa::TopkBlock t{.to = {}, .scores = {}, .count = 16384, .k = 512};
  EXPECT_EQ(sort_cost(c, t, {.sort32_records = 1 << 20}).busy, 4 * (20 + 256) + 20 + 16);
  const auto list = tile(isa::Space::vector, Format::record, 0, 1, 2048);
  const isa::MergeTopk m{.to = list, .a = list, .b = list, .c = {}, .d = {}, .k = 2048};
  EXPECT_EQ(sort_cost(c, m, {}).busy, 4 * (20 + 64) + 20 + 64);
}

}  // namespace
}  // namespace daybreak::sim::test
