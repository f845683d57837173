// Text and binary form: lossless, and hostile input is refused in one sentence.
#include <gtest/gtest.h>

#include "configs/reader/errors.hpp"
#include "isa/program/binary.hpp"
#include "isa/program/text.hpp"
#include "tests/isa/program/random_program.hpp"

namespace daybreak::isa::test {

std::string refusal_of_text(const std::string& text) {
  try {
    assemble(text, "x.dbk");
  } catch (const UserError& e) { return e.what(); }
  return {};
}
std::string refusal_of_binary(std::span<const std::byte> bytes) {
  try {
    decode(bytes, "x.bin");
  } catch (const UserError& e) { return e.what(); }
  return {};
}

TEST(TextForm, RoundTrip) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const TaskProgram p = RandomProgram(seed).make(seed % 80);
    const std::string text = disassemble(p);
    const TaskProgram back = assemble(text, "x");
    ASSERT_TRUE(identical(p, back)) << text;
    ASSERT_EQ(disassemble(back), text);
  }
}

TEST(TextForm, ReadsAsDocumented) {
  const TaskProgram p = assemble(
      "# a comment\n"
      "program \"sparse_mla\" task 3\n\n"
      "semaphores 4\n"
      "scratch operand=524288 accumulator=16\n"
      "tensor t0 binding=5 format=bf16 dims=8x64x576 strides=73728x1152x2 outside=zero # trailing\r\n"
      "tensor t1 binding=6 format=i32 dims=1x2048 strides=8192x4\n"
      "  gather to=operand[0x40:64x576:bf16/1152]#3 from=t0(0,0) index=t1(0,64) wait=s1 signal=s2 fence \"gather step 3\"\n"
      "exp2_rows scale=-0.25 dead\n",
      "x");
  EXPECT_EQ(p.kernel, "sparse_mla");
  EXPECT_EQ(p.task, 3u);
  EXPECT_EQ(p.tensors[0].dims[2], 576);
  ASSERT_EQ(p.code.size(), 2u);
  const Gather g = std::get<Gather>(p.code[0].instruction);
  EXPECT_EQ(g.to, (TileRef{.id = 3,
                           .space = Space::operand,
                           .format = Format::bf16,
                           .offset = 64,
                           .pitch = 1152,
                           .rows = 64,
                           .cols = 576}));
  EXPECT_EQ(g.index, (TensorRef{1, 0, 64}));
  EXPECT_TRUE(g.generation.empty());
  EXPECT_TRUE(p.code[0].fence && p.code[0].live && !p.code[1].live);
  EXPECT_EQ(p.code[0].label, "gather step 3");
  EXPECT_EQ(
      disassemble(p.code[0]),
      "gather to=operand[0x40:64x576:bf16/1152]#3 from=t0(0,0) index=t1(0,64) wait=s1 signal=s2 fence \"gather step 3\"");
}

TEST(TextForm, ErrorsNamePlaceAndNearestName) {
  const std::pair<const char*, std::vector<const char*>> all[] = {
      {"gater to=x", {"x.dbk:1:1:", "did you mean 'gather'"}},
      {"\n  gather form=t0(0,0)", {"x.dbk:2:10:", "did you mean 'from'"}},
      {"fill to=vectr[0x0:1x1:f32/4]#0", {"x.dbk:1:9:", "did you mean 'vector'"}},
      {"fill to=vector[0x0:1x1:f31/4]#0", {"x.dbk:1:24:", "did you mean 'f32'"}},
      {"fill to=vector[0x0:1x99999999:f32/4]#0", {"x.dbk:1:22:", "columns", "16777216"}},
      {"fill to=vector[0:1x1:f32/4]#0", {"x.dbk:1:17:", "'x' is expected"}},
      {"fill value=fast", {"x.dbk:1:12:", "must be a number"}},
      {"fill value=1 value=2", {"given twice"}},
      {"fill wait=s300", {"x.dbk:1:12:", "0 to 255"}},
      {"map function=rilu", {"did you mean 'relu'"}},
      {"cast \"no end", {"x.dbk:1:6:", "closing quote"}},
      {"cast \"\\q\"", {"x.dbk:1:7:", "escape"}},
      {"tensor t1 binding=0", {"this one is t0"}},
      {"tensor t0 dims=2x3 strides=4", {"2 dims but 1 strides"}},
      {"tensor t0 dims=2x3x1x1x1x1", {"at most 5"}},
      {"tensor t0 format=f32 dims=1x4 strides=4x8", {"last stride"}},
      {"tensor t0 dims=1099511627776x1099511627776 strides=0x4", {"elements"}},
      {"tensor t0 bnding=1", {"did you mean 'binding'"}},
      {"program x task 1", {"x.dbk:1:", "'\"' is expected"}},
      {"semaphores -1", {"whole number"}},
      {"semaphores 99999999999", {"whole number"}},
      {"gather from=t0(0,0)x", {"x.dbk:1:20:"}},
      {"gather from=t0(0,9999999999999999)", {"the column"}}};
  for (const auto& [text, parts] : all) {
    const std::string message = refusal_of_text(text);
    for (const char* part : parts)
      EXPECT_NE(message.find(part), std::string::npos) << text << "\n -> " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(TextForm, DamagedTextIsRefusedOrReadAndNothingElse) {
  RandomProgram random(7);
  const std::string text = disassemble(random.make(60));
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = text;
    for (uint64_t n = 1 + random.below(3); n; --n) {
      const size_t at = random.below(damaged.size());
      if (random.below(3) == 0)
        damaged.erase(at, 1 + random.below(20));
      else
        damaged[at] = char(random.below(256));
    }
    try {
      const TaskProgram p = assemble(damaged, "x");
      ASSERT_TRUE(identical(p, assemble(disassemble(p), "y")));
    } catch (const UserError& e) { ASSERT_NE(std::string(e.what()), ""); }
  }
}

TEST(BinaryForm, RoundTrip) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const TaskProgram p = RandomProgram(seed).make(seed % 80);
    const auto bytes = encode(p);
    const TaskProgram back = decode(bytes, "x");
    ASSERT_TRUE(identical(p, back));
    ASSERT_EQ(encode(back), bytes);
  }
}

TEST(BinaryForm, EveryFlippedByteIsRefused) {
  RandomProgram random(11);
  const auto bytes = encode(random.make(40));
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto flipped = bytes;
    flipped[i] ^= std::byte(1 + random.below(255));
    ASSERT_NE(refusal_of_binary(flipped), "") << "byte " << i;
    for (int bit = 0; bit < 8; ++bit) {
      flipped = bytes;
      flipped[i] ^= std::byte(1 << bit);
      ASSERT_NE(refusal_of_binary(flipped), "") << "byte " << i << " bit " << bit;
    }
  }
}

TEST(BinaryForm, EveryTruncationAndExtensionIsRefused) {
  auto bytes = encode(RandomProgram(12).make(40));
  for (size_t n = 0; n < bytes.size(); ++n)
    ASSERT_NE(refusal_of_binary(std::span(bytes).first(n)), "") << n;
  bytes.push_back({});
  EXPECT_NE(refusal_of_binary(bytes), "");
}

// A payload that lies but carries a right checksum: counts are bounded before anything is allocated.
TEST(BinaryForm, LyingPayloadsAreRefused) {
  RandomProgram random(13);
  const auto original = encode(random.make(30));
  for (int i = 0; i < 20000; ++i) {
    auto bytes = original;
    for (uint64_t n = 1 + random.below(4); n; --n)
      bytes[24 + random.below(bytes.size() - 24)] =
          std::byte(random.below(2) ? 0xFF : random.below(256));
    const uint32_t crc = crc32(std::span(bytes).subspan(24), crc32(std::span(bytes).first(20)));
    for (int b = 0; b < 4; ++b) bytes[20 + b] = std::byte(crc >> (8 * b));
    try {
      const TaskProgram p = decode(bytes, "x");
      ASSERT_EQ(encode(p), bytes);
    } catch (const UserError& e) {
      ASSERT_NE(std::string(e.what()).find("x: byte "), std::string::npos);
    }
  }
}

TEST(BinaryForm, Crc32IsTheUsualOne) {
  const char text[] = "123456789";
  const auto bytes = std::as_bytes(std::span(text, 9));
  EXPECT_EQ(crc32(bytes), 0xCBF43926u);
  EXPECT_EQ(crc32(bytes.subspan(4), crc32(bytes.first(4))), 0xCBF43926u);
}

}  // namespace daybreak::isa::test
