// Conversion in the DMA engine: the slowest of port, lanes and workspace sets the time, block scales come
// through their cache, a slot of the workspace is not used before it is handed over.
#include <gtest/gtest.h>

#include "tests/sim/rig.hpp"

namespace daybreak::sim::test {
namespace {

using isa::Space;
using traces::Cause;

struct ConvertRig : Rig {
  ConvertRig() {
    options.memory = fixed_memory(100, &bursts);
    weights = bind("weights", 1 << 20);
    blocks = bind("blocks", 1 << 16);
  }
  // Slots of (16, 1024): 8 KB of codes and 512 B of block scales.
  isa::Instruction stream(isa::TaskProgram& p, int64_t row, uint32_t slot) {
    if (p.tensors.empty())
      p.tensors = {isa::tensor(weights, Format::e2m1, {256, 1024}),
                   isa::tensor(blocks, Format::e8m0, {256, 32})};
    return isa::StreamMxfp4{
        .to = tile(Space::operand, Format::e4m3, slot * 20000, 16, 1024),
        .scales = tile(Space::operand, Format::f32, slot * 20000 + 16384, 16, 8),
        .from = {.tensor = 0, .row = row, .col = 0},
        .from_scales = {.tensor = 1, .row = row, .col = 0}};
  }
  int64_t time(int64_t lanes, int64_t written) {
    config.core.dma.convert_lanes = lanes;
    config.core.dma.workspace_write = written;
    isa::TaskProgram p;
    add(p, stream(p, 0, 0));
    last = run(p);
    return seen.at(0).retired;
  }
  std::vector<SeenBurst> bursts;
  uint16_t weights, blocks;
  RunResult last;
};

TEST(Convert, TheSlowestOfPortLanesAndWorkspaceSetsTheTime) {
  ConvertRig rig;
  const int64_t port = rig.time(4096, 4096);  // 8 KB at 128 B a cycle: 64 cycles
  EXPECT_NEAR(double(rig.time(128, 4096) - port), 16384 / 128 - 64, 4);
  EXPECT_GT(rig.seen.causes("chip.core0.dma_in")[Cause::convert_lanes], 0);
  EXPECT_NEAR(double(rig.time(64, 4096) - port), 16384 / 64 - 64, 4);
  EXPECT_NEAR(double(rig.time(4096, 32) - port), 16384 / 32 - 64, 4);
  EXPECT_GT(rig.seen.causes("chip.core0.dma_in")[Cause::workspace], 0);
  EXPECT_EQ(rig.last.workspace_bytes, 16384);
}

TEST(Convert, BlockScalesComeFirstAndStayInTheirCache) {
  ConvertRig rig;
  isa::TaskProgram p;
  add(p, rig.stream(p, 0, 0));
  add(p, rig.stream(p, 0, 1), {.fence = true});
  add(p, rig.stream(p, 16, 2), {.fence = true});
  const RunResult r = rig.run(p);
  EXPECT_EQ(r.launches[0].scale_misses, 2 * 8);  // sectors of 64 B
  EXPECT_EQ(r.launches[0].scale_hits, 8);
  EXPECT_EQ(rig.bursts.front().bytes, 512u);  // the scales, as one request
  EXPECT_EQ(rig.bursts.front().address, rig.bindings[rig.blocks].base.value);
  EXPECT_EQ(r.launches[0].read_bytes, 3 * 8192 + 2 * 512);
  EXPECT_EQ(r.workspace_bytes, 3 * 16384);
}

// One slot for four weights: between two fills the engine waits for the product that still reads the slot,
// and nothing else.
TEST(Convert, EveryHandOverIsAccountedAsOne) {
  ConvertRig rig;
  isa::TaskProgram p;
  for (int i = 0; i < 4; ++i) {
    add(p, rig.stream(p, 16 * i, 0),
        {.waits = i > 0 ? std::vector<int>{1} : std::vector<int>{}, .signals = {0}});
    add(p, matrix_work(0, 200000, 0, 128, 16, 512), {.waits = {0}, .signals = {1}});
  }
  rig.run(p);
  int64_t between = 0;
  for (int i = 1; i < 4; ++i)
    between += rig.seen.at(2 * i).started - rig.seen.at(2 * i - 2).retired;
  EXPECT_GT(between, 0);
  EXPECT_EQ(rig.seen.causes("chip.core0.dma_in")[Cause::workspace], between);
  EXPECT_EQ(rig.seen.causes("chip.core0.dma_in").count(Cause::ring_slot), 0u);
  for (const auto& s : rig.seen.spans) {
    if (s.cause != Cause::workspace) continue;
    EXPECT_EQ(rig.seen.units[size_t(s.waits_for)].path, "chip.core0.matrix");
  }
}

// A seeded missing wait: both users are named.
TEST(Convert, ASlotIsNotUsedBeforeItsHandOver) {
  ConvertRig rig;
  const auto product = [&](bool waits) {
    isa::TaskProgram p;
    add(p, rig.stream(p, 0, 0), {.signals = {0}});
    const isa::TileRef slot = tile(Space::operand, Format::e4m3, 0, 16, 1024);
    const isa::TileRef scales = tile(Space::operand, Format::f32, 16384, 16, 8);
    const isa::TileRef left = tile(Space::operand, Format::e4m3, 200000, 16, 1024);
    add(p,
        isa::Mma{.acc = tile(Space::accumulator, Format::f32, 0, 16, 16),
                 .a = left,
                 .b = slot,
                 .a_scales = scales,
                 .b_scales = scales,
                 .b_transposed = 1},
        waits ? Edges{.waits = {0}} : Edges{});
    return p;
  };
  EXPECT_EQ(rig.error(product(true)), "");
  const std::string early = rig.error(product(false));
  EXPECT_NE(early.find("stream_mxfp4"), std::string::npos) << early;
  EXPECT_NE(early.find("mma"), std::string::npos) << early;
  EXPECT_NE(early.find("no edge orders them"), std::string::npos) << early;

  isa::TaskProgram again;  // the next weights, while the product may still read the slot
  again = product(true);
  add(again, rig.stream(again, 16, 0), {.fence = true});
  const std::string overwritten = rig.error(again);
  EXPECT_NE(overwritten.find("no edge orders them"), std::string::npos) << overwritten;
  EXPECT_NE(overwritten.find("mma"), std::string::npos) << overwritten;
}

}  // namespace
}  // namespace daybreak::sim::test
