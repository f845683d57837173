#include "isa/program/verify.hpp"

#include <gtest/gtest.h>

#include "isa/program/text.hpp"
#include "tests/isa/program/random_program.hpp"

namespace daybreak::isa::test {

const std::string kHead =
    "program \"k\" task 0\nsemaphores 4\nscratch operand=65536 vector=65536 accumulator=65536\n"
    "tensor t0 binding=0 format=bf16 dims=64x64 strides=128x2\n"
    "tensor t1 binding=1 format=f32 dims=64x64 strides=256x4\n"
    "tensor t2 binding=1 format=i32 dims=1x64 strides=256x4 offset=65536\n";

Capabilities chip() {
  return {.scratch = {Bytes(65536), Bytes(65536), Bytes(65536)},
          .latch_a = Bytes(32768),
          .latch_b = Bytes(32768)};
}
std::vector<Finding> findings(const std::string& body, const Capabilities& c = chip()) {
  return verify(assemble(kHead + body, "test"), c);
}
testing::AssertionResult clean(const std::vector<Finding>& all) {
  if (all.empty()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << name_of(all[0].kind) << ": " << all[0].message;
}
void expect_one(const std::vector<Finding>& all, Finding::Kind kind, int64_t first, int64_t second,
                std::initializer_list<const char*> parts) {
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].kind, kind) << all[0].message;
  EXPECT_EQ(all[0].first, first) << all[0].message;
  EXPECT_EQ(all[0].second, second) << all[0].message;
  for (const char* part : parts)
    EXPECT_NE(all[0].message.find(part), std::string::npos) << all[0].message << " lacks " << part;
}

// Load, multiply, convert, store; two steps through one buffer.
const char* kPipeline =
    "load to=operand[0x0:64x64:bf16/128]#1 from=t0(0,0) signal=s0 \"load 0\"\n"
    "mma acc=accumulator[0x0:64x64:f32/256]#2 a=operand[0x0:64x64:bf16/128]#1 b=operand[0x0:64x64:bf16/128]#1 wait=s0 signal=s1 signal=s2 \"mma 0\"\n"
    "cast to=vector[0x0:64x64:f32/256]#3 from=accumulator[0x0:64x64:f32/256]#2 wait=s2 signal=s3 \"cast 0\"\n"
    "store to=t1(0,0) from=vector[0x0:64x64:f32/256]#3 wait=s3 \"store 0\"\n"
    "load to=operand[0x0:64x64:bf16/128]#1 from=t0(0,0) wait=s1 signal=s0 \"load 1\"\n"
    "mma acc=accumulator[0x8000:64x64:f32/256]#4 a=operand[0x0:64x64:bf16/128]#1 b=operand[0x0:64x64:bf16/128]#1 wait=s0 signal=s1 signal=s2 \"mma 1\"\n";

std::string without(const std::string& text, const std::string& piece, int nth) {
  size_t at = 0;
  for (int i = 0; i <= nth; ++i) at = text.find(piece, at + (i > 0));
  std::string out = text;
  return out.erase(at, piece.size());
}

TEST(Verify, CompletePipelineIsClean) { EXPECT_TRUE(clean(findings(kPipeline))); }

TEST(Verify, MissingWaitNamesBothInstructionsAndTheEdge) {
  expect_one(
      findings(without(kPipeline, " wait=s0", 0)), Finding::Kind::hazard, 0, 1,
      {"entry 0 (load in dma_in, \"load 0\") writes", "entry 1 (mma in matrix, \"mma 0\") reads",
       "a signal of the first (dma_in) and a wait of the second (matrix)", "operand"});
  expect_one(findings(without(kPipeline, " wait=s2", 0)), Finding::Kind::hazard, 1, 2,
             {"mma 0", "cast 0", "accumulator"});
  expect_one(findings(without(kPipeline, " wait=s3", 0)), Finding::Kind::hazard, 2, 3,
             {"cast 0", "store 0"});
  // Write after read: the second load would overwrite what the first product reads.
  const auto all = findings(without(kPipeline, " wait=s1", 0));
  bool found = false;
  for (const Finding& f : all) found |= f.first == 1 && f.second == 4;
  EXPECT_TRUE(found);
}

TEST(Verify, DmaOverlapsItsEntriesUnlessFenced) {
  const std::string two =
      "load to=vector[0x0:64x64:bf16/128]#1 from=t0(0,0) \"a\"\n"
      "load to=vector[0x40:1x64:bf16/128]#2 from=t0(0,0)";
  expect_one(findings(two), Finding::Kind::hazard, 0, 1, {"needs `fence`", "dma_in"});
  EXPECT_TRUE(clean(findings(two + " fence\n")));
  // Retirement in order: a signal of the second vouches for the first.
  const std::string side_by_side =
      "load to=vector[0x0:64x64:bf16/128]#1 from=t0(0,0)\n"
      "load to=vector[0x2000:64x64:bf16/128]#2 from=t0(0,0) signal=s0\n";
  EXPECT_TRUE(clean(findings(side_by_side + "fill to=vector[0x0:64x64:bf16/128]#1 wait=s0\n")));
  EXPECT_FALSE(clean(findings(side_by_side + "fill to=vector[0x0:64x64:bf16/128]#1\n")));
}

TEST(Verify, OtherQueuesKeepTheirOwnOrder) {
  EXPECT_TRUE(clean(findings(
      "fill to=vector[0x0:8x8:f32/32]#1\ncast to=vector[0x0:8x8:bf16/32]#1 from=vector[0x0:8x8:f32/32]#1\n")));
}

TEST(Verify, MemoryHazards) {
  const std::string store =
      "store to=t1(0,0) from=vector[0x0:64x32:f32/128]#1 signal=s0 \"left\"\n";
  EXPECT_FALSE(clean(findings(store + "load to=vector[0x4000:64x64:f32/256]#2 from=t1(0,0)\n")));
  EXPECT_TRUE(
      clean(findings(store + "load to=vector[0x4000:64x64:f32/256]#2 from=t1(0,0) wait=s0\n")));
  // The other half of the same rows is other bytes.
  EXPECT_TRUE(clean(findings(store + "load to=vector[0x4000:64x32:f32/128]#2 from=t1(0,32)\n")));
  EXPECT_TRUE(clean(findings(store + "store to=t1(0,32) from=vector[0x0:64x32:f32/128]#1\n")));
  EXPECT_FALSE(clean(findings(store + "store to=t1(0,31) from=vector[0x0:64x32:f32/128]#1\n")));
  // A gather may read any row.
  EXPECT_FALSE(clean(
      findings(store + "gather to=vector[0x4000:4x4:f32/16]#2 from=t1(0,0) index=t2(0,0)\n")));
  EXPECT_TRUE(clean(
      findings(store + "gather to=vector[0x4000:4x4:f32/16]#2 from=t1(0,40) index=t2(0,0)\n")));
}

TEST(Verify, ControlEntriesComeBeforeWhatIsIssuedAfterThem) {
  const std::string body =
      "translate to=t2(0,0) positions=t2(0,32) requests=t2(0,60) blocks=t2(0,0) count=4 on_control=1\n"
      "gather to=vector[0x0:4x4:f32/16]#2 from=t1(0,0) index=t2(0,0)\n";
  EXPECT_TRUE(clean(findings(body)));
}

TEST(Verify, SeveralSignallersProveOnlyWhatEveryOrderGuarantees) {
  const std::string two =
      "load to=vector[0x0:8x8:bf16/16]#1 from=t0(0,0) signal=s0\n"
      "mma acc=accumulator[0x0:8x8:f32/32]#2 a=operand[0x0:8x8:bf16/16]#3 b=operand[0x0:8x8:bf16/16]#3 signal=s0\n";
  const std::string use =
      "cast to=vector[0x1000:8x8:f32/32]#4 from=vector[0x0:8x8:bf16/16]#1 wait=s0";
  EXPECT_FALSE(clean(findings(two + use + "\n")));
  EXPECT_TRUE(clean(findings(two + use + " wait=s0\n")));
}

TEST(Verify, Deadlock) {
  expect_one(findings("fill to=vector[0x0:8x8:f32/32]#1 wait=s2 \"stuck\"\n"),
             Finding::Kind::deadlock, 0, -1,
             {"entry 0 (fill in vector, \"stuck\") waits for semaphore s2", "nobody signals"});
  // Two queues in a circle: each names the other.
  const auto circle = findings(
      "fill to=vector[0x0:8x8:f32/32]#1 wait=s0 signal=s1 \"v\"\n"
      "load to=operand[0x0:8x8:bf16/16]#2 from=t0(0,0) wait=s1 signal=s0 \"d\"\n");
  ASSERT_EQ(circle.size(), 2u);
  for (const Finding& f : circle) {
    EXPECT_EQ(f.kind, Finding::Kind::deadlock);
    EXPECT_NE(f.message.find("\"v\""), std::string::npos);
    EXPECT_NE(f.message.find("\"d\""), std::string::npos);
  }
  // A semaphore that is full blocks who signals it.
  std::string many, fewer;
  for (int i = 0; i < 16; ++i)
    (i < 15 ? fewer : many) += "fill to=vector[0x0:8x8:f32/32]#1 signal=s0\n";
  EXPECT_TRUE(clean(findings(fewer)));
  expect_one(findings(fewer + many), Finding::Kind::deadlock, 15, -1,
             {"maximum of 15", "nobody waits"});
}

TEST(Verify, DeadlockByFullQueue) {
  // The waiting queue fills up before what it waits for can be issued.
  std::string body = "fill to=vector[0x0:8x8:f32/32]#1 wait=s0\n";
  for (int i = 0; i < 5; ++i) body += "fill to=vector[0x0:8x8:f32/32]#1\n";
  body += "load to=operand[0x0:8x8:bf16/16]#2 from=t0(0,0) signal=s0\n";
  EXPECT_TRUE(clean(findings(body)));
  Capabilities shallow = chip();
  shallow.queue_depth = 4;
  const auto all = findings(body, shallow);
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0].kind, Finding::Kind::deadlock);
  EXPECT_NE(all[0].message.find("queue vector is full"), std::string::npos) << all[0].message;
}

TEST(Verify, SharedCountersAreTakenAsSatisfiable) {
  EXPECT_TRUE(clean(findings(
      "wait semaphore=3 count=7 in_queue=dma_in\nload to=operand[0x0:8x8:bf16/16]#2 from=t0(0,0)\n")));
}

TEST(Verify, OverflowUnboundAndLimits) {
  using enum Finding::Kind;
  expect_one(findings("fill to=vector[0xfff0:1x8:f32/32]#1 \"last\"\n"), overflow, 0, -1,
             {"fill", "\"last\"", "65552", "a core has 65536"});
  expect_one(findings("fill to=vector[0x0:3x8:f32/4294967295]#1\n"), overflow, 0, -1,
             {"8589934622"});
  expect_one(findings("load to=vector[0x0:1x8:f32/32]#1 from=t9(0,0)\n"), unbound, 0, -1, {"t9"});
  expect_one(findings("fill to=vector[0x0:1x8:f32/32]#1 wait=s4\n"), limit, 0, -1,
             {"s4", "declares 4"});
  Capabilities small = chip();
  small.max_semaphores = 3;
  expect_one(findings("", small), limit, -1, -1, {"4 semaphores", "a core has 3"});
  small = chip();
  small.latch_a = Bytes(64 * 64 * 2 - 1);
  expect_one(findings(kPipeline, small), limit, 1, -1,
             {"operand a of 8192 bytes", "8191", "\"mma 0\""});
  small = chip();
  small.scratch[1] = Bytes(1000);
  expect_one(findings("", small), overflow, -1, -1, {"vector", "1000"});
}

TEST(Verify, Bindings) {
  const TaskProgram p =
      assemble(kHead + "store to=t1(0,0) from=vector[0x0:8x8:f32/32]#1\n", "test");
  BindingTable b = {{.name = "a", .base = Address(1 << 20), .bytes = Bytes(64 * 128)},
                    {.name = "b", .base = Address(2 << 20), .bytes = Bytes(65536 + 256)}};
  EXPECT_TRUE(clean(verify(p, chip(), &b)));
  b[1].bytes = Bytes(65536 + 255);
  expect_one(verify(p, chip(), &b), Finding::Kind::unbound, -1, -1, {"t2", "binding b"});
  b[1].bytes = Bytes(1 << 20);
  b[1].writable = false;
  expect_one(verify(p, chip(), &b), Finding::Kind::unbound, 0, -1, {"read-only"});
  b.pop_back();
  EXPECT_EQ(verify(p, chip(), &b)[0].kind, Finding::Kind::unbound);
  // Two bindings over the same bytes: only addresses show it.
  const TaskProgram alias = assemble(
      kHead +
          "store to=t1(0,0) from=vector[0x0:8x8:f32/32]#1\nload to=operand[0x0:8x8:bf16/16]#2 from=t0(0,0)\n",
      "test");
  BindingTable apart = {{.name = "a", .base = Address(1 << 20), .bytes = Bytes(1 << 16)},
                        {.name = "b", .base = Address(2 << 20), .bytes = Bytes(1 << 17)}};
  EXPECT_TRUE(clean(verify(alias, chip(), &apart)));
  apart[0].base = apart[1].base;
  EXPECT_FALSE(clean(verify(alias, chip(), &apart)));
}

// Whatever the numbers, the verifier answers.
TEST(Verify, RandomProgramsDoNotUpsetIt) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    RandomProgram random(seed);
    TaskProgram p = random.make(60);
    verify(p, chip());
    for (Entry& e : p.code)
      std::visit(
          [&](auto& i) {
            for_each_field(i, [&](const auto&, auto& member) {
              if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, TensorRef>)
                if (!member.empty() && !p.tensors.empty())
                  member.tensor = uint16_t(random.below(p.tensors.size()));
            });
          },
          e.instruction);
    p.semaphores = 256;
    Capabilities wide{.max_semaphores = 256};
    verify(p, wide);
  }
}

}  // namespace daybreak::isa::test
