// The DMA engine over a memory of constant latency (100 cycles): issue, port, limit, gather,
// fence, walk.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/sim/rig.hpp"

namespace daybreak::sim::test {
namespace {

using isa::Space;
using traces::Cause;

struct DmaRig : Rig {
  DmaRig() { options.memory = fixed_memory(100, &bursts); }
  std::vector<SeenBurst> bursts;
};

uint16_t add_tensor(isa::TaskProgram& p, isa::TensorDesc d) {
  p.tensors.push_back(d);
  return uint16_t(p.tensors.size() - 1);
}
isa::Instruction load(uint16_t tensor, isa::TileRef to, int64_t row = 0) {
  return isa::Load{.to = to, .from = {.tensor = tensor, .row = row, .col = 0}};
}

// Issued at 1, decoded until 21, first request then, one per cycle; data from 121 at 128 B a cycle.
TEST(Dma, ContiguousLoadIsIssueLatencyAndPort) {
  DmaRig rig;
  isa::TaskProgram p;
  const uint16_t t = add_tensor(p, isa::tensor(rig.bind("x", 1 << 20), Format::f32, {64, 128}));
  add(p, load(t, tile(Space::vector, Format::f32, 0, 64, 128)));
  const RunResult r = rig.run(p);
  EXPECT_EQ(rig.bursts.size(), 64u);  // 32 KB in lines of 512 B
  for (const auto& b : rig.bursts) EXPECT_EQ(b.bytes, 512u);
  EXPECT_EQ(rig.bursts.front().at, 21);
  // 64 requests of 4 port cycles each, the first complete at 121
  EXPECT_EQ(rig.seen.at(0).retired, 121 + 64 * 4);
  EXPECT_EQ(r.launches[0].read_bytes, 32768);
  EXPECT_EQ(r.launches[0].l2_hits, 64);
  const auto causes = rig.seen.causes("chip.core0.dma_in");
  EXPECT_EQ(causes.at(Cause::issue_order), 1);
  EXPECT_EQ(causes.at(Cause::busy), 20 + 64 + 256);  // decode, requests, port
}

TEST(Dma, RequestsNeverCrossALine) {
  DmaRig rig;
  isa::TaskProgram p;
  isa::TensorDesc d = isa::tensor(rig.bind("x", 1 << 20), Format::u8, {8, 656});
  d.offset = 100;
  const uint16_t t = add_tensor(p, d);
  add(p, load(t, tile(Space::vector, Format::u8, 0, 8, 656)));
  rig.run(p);
  int64_t bytes = 0;
  for (const auto& b : rig.bursts) {
    EXPECT_EQ(b.address / 512, (b.address + b.bytes - 1) / 512);
    bytes += b.bytes;
  }
  EXPECT_EQ(bytes, 8 * 656);
}

// With one request in flight every request takes a round trip.
TEST(Dma, OutstandingLimitIsKeptAndBlamed) {
  DmaRig rig;
  rig.config.core.dma.outstanding = 2;
  isa::TaskProgram p;
  const uint16_t t = add_tensor(p, isa::tensor(rig.bind("x", 1 << 20), Format::f32, {64, 128}));
  add(p, load(t, tile(Space::vector, Format::f32, 0, 64, 128)));
  rig.run(p);
  for (size_t i = 2; i < rig.bursts.size(); ++i)
    EXPECT_GE(rig.bursts[i].at, rig.bursts[i - 2].at + 100);
  EXPECT_NEAR(double(rig.seen.at(0).retired), 21 + 32 * 100, 40);
  EXPECT_GT(rig.seen.causes("chip.core0.dma_in").at(Cause::outstanding), 2500);
}

// A gather reads its index first, then asks for a row every row_issue cycles; -1 rows are not
// asked for.
TEST(Dma, GatherPaysRowIssueAfterItsIndex) {
  DmaRig rig;
  isa::TaskProgram p;
  const uint16_t rows =
      add_tensor(p, isa::tensor(rig.bind("rows", 1 << 20), Format::u8, {1024, 128}));
  const uint16_t index = add_tensor(p, isa::tensor(rig.bind("index", 4096), Format::i32, {1, 64}));
  for (int i = 0; i < 64; ++i)
    rig.image.put<int32_t>(Address(rig.bindings[1].base.value + uint64_t(i) * 4),
                           i % 4 ? i * 7 : -1);
  add(p, isa::Gather{.to = tile(Space::operand, Format::u8, 0, 64, 128),
                     .from = {.tensor = rows},
                     .index = {.tensor = index},
                     .generation = {},
                     .requests = {}});
  rig.run(p);
  ASSERT_EQ(rig.bursts.size(), 1u + 48u);
  EXPECT_EQ(rig.bursts[0].at, 21);
  EXPECT_EQ(rig.bursts[0].bytes, 256u);
  EXPECT_EQ(rig.bursts[1].at, 121);
  for (size_t i = 2; i < rig.bursts.size(); ++i)
    EXPECT_EQ(rig.bursts[i].at, rig.bursts[i - 1].at + 4);
  EXPECT_EQ(rig.seen.at(0).retired, 121 + 47 * 4 + 100 + 1);
}

TEST(Dma, NeighbouringRowsMergeWhenTheChipCan) {
  DmaRig rig;
  rig.config.core.dma.merge_max = 2;
  isa::TaskProgram p;
  const uint16_t rows =
      add_tensor(p, isa::tensor(rig.bind("rows", 1 << 20), Format::u8, {1024, 128}));
  const uint16_t index = add_tensor(p, isa::tensor(rig.bind("index", 4096), Format::i32, {1, 8}));
  for (int i = 0; i < 8; ++i)
    rig.image.put<int32_t>(Address(rig.bindings[1].base.value + uint64_t(i) * 4), i);
  add(p, isa::Gather{.to = tile(Space::operand, Format::u8, 0, 8, 128),
                     .from = {.tensor = rows},
                     .index = {.tensor = index},
                     .generation = {},
                     .requests = {}});
  rig.run(p);
  ASSERT_EQ(rig.bursts.size(), 1u + 4u);
  EXPECT_EQ(rig.bursts[1].bytes, 256u);
}

// Two tasks of one launch that share 64 rows: each asks for half of them.
struct PairRig : DmaRig {
  isa::TaskProgram programs[2];
  uint16_t rows, index;

  PairRig() {
    config.cores = 2;
    bind("rows", 1 << 20), bind("index", 4096);
    for (int i = 0; i < 64; ++i)
      image.put<int32_t>(Address(bindings[1].base.value + uint64_t(i) * 4), i * 7);
    for (int row = 0; row < 448; ++row)
      image.put<uint8_t>(Address(bindings[0].base.value + uint64_t(row) * 128), uint8_t(row));
    for (auto& p : programs) {
      rows = add_tensor(p, isa::tensor(0, Format::u8, {1024, 128}));
      index = add_tensor(p, isa::tensor(1, Format::i32, {1, 64}));
    }
  }
  // `slow`: cycles that the place of task 1's receipts stays taken.
  void half(int task, int half, uint32_t slow = 0) {
    const bool gives = half == task;
    if (slow > 0) add(programs[task], vector_work(65536, slow), {.signals = {0}});
    add(programs[task],
        isa::Gather{.to = tile(Space::operand, Format::u8, uint32_t(half) * 4096, 32, 128),
                    .from = {.tensor = rows},
                    .index = {.tensor = index, .col = half * 32},
                    .generation = {},
                    .requests = {},
                    .sharing = int32_t(gives ? isa::Sharing::delivers : isa::Sharing::receives)},
        {.waits = slow > 0 ? std::vector<int>{0} : std::vector<int>{}});
  }
  RunResult go() {
    return run(
        {isa::Launch{.kernel = "pair", .tasks = 2, .grid = {}, .grid_tensor = {}, .after = {}}},
        [&](uint32_t, uint32_t task, const isa::MemoryImage&) { return programs[task]; });
  }
};

TEST(Dma, PartnersAskForEachRowOnce) {
  PairRig rig;
  for (int task : {0, 1})
    for (int half : {0, 1}) rig.half(task, half);
  const auto r = rig.go();
  EXPECT_EQ(rig.bursts.size(), 2u + 64u);  // one fetch of 32 indices each
  EXPECT_EQ(r.launches[0].read_bytes, 64 * 128 + 64 * 4);
  const auto& given = rig.seen.at(0, 0);
  const auto& taken = rig.seen.at(0, 1);
  EXPECT_EQ(taken.retired, given.retired + rig.config.core.dma.pair_latency);
}

TEST(Dma, AGiverWaitsForThePlaceOfItsPartner) {
  PairRig rig;
  rig.half(0, 0);
  rig.half(1, 0, 1500);
  rig.go();
  const auto& busy = rig.seen.at(0, 1);
  ASSERT_EQ(busy.name, "fill");
  const int64_t latency = rig.config.core.dma.pair_latency;
  for (size_t i = 1; i < rig.bursts.size(); ++i)
    EXPECT_GE(rig.bursts[i].at, busy.retired + latency);
  EXPECT_GE(rig.seen.at(1, 1).retired, rig.seen.at(0, 0).retired + latency);
}

TEST(Dma, APartnerThatNeverComesIsNamed) {
  PairRig rig;
  rig.half(0, 1);
  rig.half(1, 0);
  std::string error;
  try {
    rig.go();
  } catch (const InvariantError& e) { error = e.what(); }
  EXPECT_NE(error.find("gather"), std::string::npos) << error;
  EXPECT_NE(error.find("waits for task 1, with which it shares rows"), std::string::npos) << error;
  EXPECT_NE(error.find("waits for task 0, with which it shares rows"), std::string::npos) << error;
}

// The second descriptor is decoded while the first is under way; a fence makes it wait for
// retirement.
TEST(Dma, DescriptorsOverlapUnlessFenced) {
  for (const bool fence : {false, true}) {
    DmaRig rig;
    isa::TaskProgram p;
    const uint16_t t = add_tensor(p, isa::tensor(rig.bind("x", 1 << 20), Format::f32, {2, 128}));
    add(p, load(t, tile(Space::vector, Format::f32, 0, 1, 128), 0));
    add(p, load(t, tile(Space::vector, Format::f32, 512, 1, 128), 1), {.fence = fence});
    rig.run(p);
    EXPECT_EQ(rig.seen.at(0).retired, 21 + 100 + 4);
    // front free at 21; decoded 41; or decoded 20 after the first retired
    EXPECT_EQ(rig.seen.at(1).retired, fence ? 125 + 20 + 100 + 4 : 41 + 100 + 4);
  }
}

TEST(Dma, StoresPayThePortWhenIssued) {
  DmaRig rig;
  isa::TaskProgram p;
  const uint16_t t = add_tensor(p, isa::tensor(rig.bind("x", 1 << 20), Format::f32, {64, 128}));
  add(p, isa::Store{.to = {.tensor = t}, .from = tile(Space::vector, Format::f32, 0, 64, 128)});
  const RunResult r = rig.run(p);
  for (const auto& b : rig.bursts) EXPECT_TRUE(b.write);
  EXPECT_EQ(r.launches[0].write_bytes, 32768);
  // four batches of 16 requests, 64 cycles each; the last is submitted at 21 + 3 * 64
  EXPECT_EQ(rig.seen.at(0).retired, 21 + 3 * 64 + 100);
}

TEST(Dma, MisalignedSegmentsAreDerated) {
  Cycle aligned = 0, off = 0;
  for (const int64_t offset : {0, 64}) {
    DmaRig rig;
    rig.config.core.dma.align = 512;
    rig.config.core.dma.align_derate = 0.5;
    isa::TaskProgram p;
    isa::TensorDesc d = isa::tensor(rig.bind("x", 1 << 20), Format::f32, {64, 128});
    d.offset = offset;
    const uint16_t t = add_tensor(p, d);
    add(p, load(t, tile(Space::vector, Format::f32, 0, 64, 128)));
    rig.run(p);
    (offset ? off : aligned) = rig.seen.at(0).retired;
  }
  EXPECT_NEAR(double(off - 121), 2 * double(aligned - 121), 8);
}

// 64 positions over 32 pages: every second one is in the page of the one before. 32 block entries
// are two reads of 16.
struct WalkRig : DmaRig {
  isa::TaskProgram p;
  WalkRig() {
    const uint16_t requests = add_tensor(p, isa::tensor(bind("requests", 64), Format::i32, {1, 4}));
    const uint16_t blocks = add_tensor(p, isa::tensor(bind("blocks", 4096), Format::i32, {1, 32}));
    const uint16_t positions =
        add_tensor(p, isa::tensor(bind("positions", 4096), Format::i32, {1, 64}));
    const uint16_t to = add_tensor(p, isa::tensor(bind("to", 4096), Format::i32, {1, 64}));
    const uint16_t stamp = add_tensor(p, isa::tensor(bind("stamp", 64), Format::i32, {1, 2}));
    const int32_t entry[4] = {0, 32, 9, 0};
    for (int i = 0; i < 4; ++i) put(0, i, entry[i]);
    for (int i = 0; i < 32; ++i) put(1, i, 100 - i);
    for (int i = 0; i < 64; ++i) put(2, i, i * 32);
    translate = {.to = {.tensor = to},
                 .generation = {.tensor = stamp},
                 .positions = {.tensor = positions},
                 .requests = {.tensor = requests},
                 .blocks = {.tensor = blocks},
                 .count = 64};
  }
  void put(int binding, int i, int32_t v) {
    image.put<int32_t>(Address(bindings[size_t(binding)].base.value + uint64_t(i) * 4), v);
  }
  int32_t row(int i) const {
    return image.get<int32_t>(Address(bindings[3].base.value + uint64_t(i) * 4));
  }
  isa::Translate translate;
};

TEST(PageWalk, OneReadFillsItsNeighbours) {
  WalkRig rig;
  add(rig.p, rig.translate);
  const RunResult r = rig.run(rig.p);
  EXPECT_EQ(r.launches[0].tlb_misses, 2);
  EXPECT_EQ(r.launches[0].tlb_hits, 62);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(rig.row(i), (100 - i / 2) * 64 + i * 32 % 64);
  int walks = 0;
  for (const auto& b : rig.bursts)
    walks += b.address >= rig.bindings[1].base.value && b.bytes == 64 &&
             b.address < rig.bindings[1].base.value + 128;
  EXPECT_EQ(walks, 2);
}

TEST(PageWalk, SecondListFindsTheEntriesAndTheRequestLevel) {
  WalkRig rig;
  add(rig.p, rig.translate);
  add(rig.p, rig.translate, {.fence = true});
  const RunResult r = rig.run(rig.p);
  EXPECT_EQ(r.launches[0].tlb_misses, 2);
  EXPECT_EQ(r.launches[0].tlb_hits, 126);
  EXPECT_LT(rig.seen.at(1).retired - rig.seen.at(1).started,
            rig.seen.at(0).retired - rig.seen.at(0).started);
}

TEST(PageWalk, ControlProcessorPaysDependentLoads) {
  WalkRig rig;
  rig.translate.on_control = 1;
  add(rig.p, rig.translate);
  rig.run(rig.p);
  EXPECT_EQ(rig.seen.at(0).retired, 60 + 64 * (2 * 60 + 4));
  EXPECT_EQ(rig.row(63), (100 - 31) * 64 + 63 * 32 % 64);
  EXPECT_TRUE(rig.bursts.empty());
}

TEST(Dma, MoveStaysInsideTheCore) {
  DmaRig rig;
  isa::TaskProgram p;
  add(p, isa::Move{.to = tile(Space::operand, Format::f32, 0, 64, 64),
                   .from = tile(Space::vector, Format::f32, 0, 64, 64)});
  rig.run(p);
  EXPECT_EQ(rig.seen.at(0).retired, 21 + 128 + 40);
  EXPECT_TRUE(rig.bursts.empty());
  EXPECT_EQ(rig.seen.causes("chip.core0.dma_out").at(Cause::workspace), 40);
}

}  // namespace
}  // namespace daybreak::sim::test
