// MXFP4 to E4M3 by enumeration: the oracle works with exact doubles and searches the nearest code.
#include "isa/instructions/detail/mxfp4.hpp"
#include "tests/isa/instructions/bench.hpp"

namespace daybreak::isa::test {

double plain_e2m1(int code) {
  const double magnitude[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  return code & 8 ? -magnitude[code & 7] : magnitude[code & 7];
}

// Blocks of codes as elements, with the byte of each; what conversion must give.
struct PlainGroup {
  std::vector<std::array<int, 32>> codes;
  std::vector<int> bytes;

  int scale() const {  // G
    int top = -1;
    for (size_t b = 0; b < codes.size(); ++b)
      for (int code : codes[b])
        if (bytes[b] != 255 && (code & 7) != 0) top = std::max(top, bytes[b]);
    return top < 0 ? 127 : std::clamp(top - 6, 1, 254);
  }
  uint8_t code(size_t b, int i) const {
    if (bytes[b] == 255) return 0x7F;
    const double value = std::ldexp(plain_e2m1(codes[b][size_t(i)]), bytes[b] - scale());
    return plain_e4m3(float(value));  // exact: at most 2 significant bits
  }
  bool exact() const {
    for (size_t b = 0; b < codes.size(); ++b)
      for (int i = 0; i < 32 && bytes[b] != 255; ++i)
        if (double(plain_e4m3(code(b, i))) !=
            std::ldexp(plain_e2m1(codes[b][size_t(i)]), bytes[b] - scale()))
          return false;
    return true;
  }
  std::vector<uint8_t> packed(NibbleOrder order) const {
    std::vector<uint8_t> out;
    for (const auto& block : codes)
      for (size_t j = 0; j < 16; ++j) {
        const auto at = [&](size_t i) { return unsigned(block[i]); };
        if (order == NibbleOrder::low_first) out.push_back(uint8_t(at(2 * j) | at(2 * j + 1) << 4));
        if (order == NibbleOrder::high_first)
          out.push_back(uint8_t(at(2 * j + 1) | at(2 * j) << 4));
        if (order == NibbleOrder::split) out.push_back(uint8_t(at(j) | at(j + 16) << 4));
      }
    return out;
  }
};

void expect_converted(const PlainGroup& g, NibbleOrder order) {
  const auto packed = g.packed(order);
  std::vector<uint8_t> bytes(g.bytes.begin(), g.bytes.end()), to(g.codes.size() * 32);
  ConversionCounters counters;
  const float scale =
      detail::convert_mx_group(packed.data(), bytes, order, 127, to.data(), &counters);
  ASSERT_EQ(scale, float(std::ldexp(1.0, g.scale() - 127)));
  for (size_t b = 0; b < g.codes.size(); ++b)
    for (int i = 0; i < 32; ++i)
      ASSERT_EQ(int(to[b * 32 + size_t(i)]), int(g.code(b, i)))
          << "byte " << g.bytes[b] << " of top scale " << g.scale() << " code "
          << g.codes[b][size_t(i)];
  ASSERT_EQ(counters.exact_groups, g.exact() ? 1 : 0);
  ASSERT_EQ(counters.exact_groups + counters.inexact_groups, 1);
  ASSERT_EQ(counters.nan_blocks, std::count(g.bytes.begin(), g.bytes.end(), 255));
}

// Every code in a block `spread` below a block that holds a value, at every pair of scale bytes.
TEST(Mxfp4, EveryCodeAtEverySpread) {
  for (int top = 0; top < 255; ++top)
    for (int spread = 0; spread <= top && spread < 40; ++spread) {
      PlainGroup g;
      g.codes.resize(2);
      g.codes[0].fill(0);
      g.codes[0][5] = 7;
      for (size_t i = 0; i < 32; ++i) g.codes[1][i] = int(i % 16);
      g.bytes = {top, top - spread};
      expect_converted(g, NibbleOrder::low_first);
      if (spread <= 14) { ASSERT_TRUE(g.exact()) << top << " " << spread; }
    }
}

TEST(Mxfp4, SpreadFifteenIsTheFirstThatLoses) {
  PlainGroup g;
  g.codes.resize(2);
  g.codes[0].fill(1), g.codes[1].fill(1);  // 0.5: the finest value
  g.bytes = {120, 106};
  EXPECT_TRUE(g.exact());
  g.bytes = {120, 105};
  EXPECT_FALSE(g.exact());
  expect_converted(g, NibbleOrder::low_first);
}

TEST(Mxfp4, ZeroBlocksWithLargeScalesDoNotCount) {
  PlainGroup g;
  g.codes.resize(4);
  for (auto& block : g.codes) block.fill(3);
  g.codes[2].fill(0);
  g.codes[2][7] = 8;  // a negative zero keeps its sign
  g.bytes = {120, 121, 254, 119};
  expect_converted(g, NibbleOrder::low_first);
  EXPECT_EQ(g.scale(), 115);
  EXPECT_EQ(int(g.code(2, 7)), 0x80);
}

TEST(Mxfp4, RandomGroupsInEveryOrder) {
  std::mt19937 random(7);
  const auto draw = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int trial = 0; trial < 3000; ++trial) {
    PlainGroup g;
    const int blocks = draw(1, 4), wide = draw(0, 2) == 0 ? 40 : 6, top = draw(0, 254);
    for (int b = 0; b < blocks; ++b) {
      g.codes.emplace_back();
      const int kind = draw(0, 5);
      for (int& code : g.codes.back()) code = kind == 0 ? draw(0, 1) * 8 : draw(0, 15);
      g.bytes.push_back(draw(0, 15) == 0 ? 255 : std::max(0, top - draw(0, wide)));
    }
    expect_converted(g, NibbleOrder(trial % 3));
  }
}

struct WeightScene : Bench {
  TensorRef weights, blocks;
  WeightScene(int64_t rows, int64_t cols, OutOfBounds rule) {
    weights = memory_tensor(Format::e2m1, {rows, cols}, rule);
    blocks = memory_tensor(Format::e8m0, {rows, cols / 32}, rule);
    for (int64_t i = 0; i < rows * cols / 2; ++i)
      memory.put(Address(bindings[0].base.value + uint64_t(i)), uint8_t(integer(0, 255)));
    for (int64_t i = 0; i < rows * cols / 32; ++i)
      memory.put(Address(bindings[1].base.value + uint64_t(i)), uint8_t(integer(110, 120)));
  }
  int code(int64_t row, int64_t col, int64_t cols) {
    const auto byte =
        memory.get<uint8_t>(Address(bindings[0].base.value + uint64_t((row * cols + col) / 2)));
    return byte >> col % 2 * 4 & 15;
  }
  int byte(int64_t row, int64_t block, int64_t cols) {
    return memory.get<uint8_t>(Address(bindings[1].base.value + uint64_t(row * cols / 32 + block)));
  }
};

// A tile over the corner of a matrix of 192 columns, whose second group has two blocks only.
TEST(Semantics, stream_mxfp4) {
  constexpr int64_t kRows = 5, kCols = 192;
  WeightScene s(kRows, kCols, OutOfBounds::zero);
  const TileRef to = s.tile(Space::operand, Format::e4m3, 4, 384, 6);
  const TileRef scales = s.tile(Space::operand, Format::f32, 4, 3, 4);
  TensorRef from = s.weights;
  from.row = 3;
  TensorRef blocks = s.blocks;
  blocks.row = 3;
  s.run(StreamMxfp4{.to = to, .scales = scales, .from = from, .from_scales = blocks});
  for (int64_t r = 0; r < 4; ++r)
    for (int64_t g = 0; g < 3; ++g) {
      PlainGroup plain;
      for (int64_t b = 0; b < 4; ++b) {
        if (r + 3 >= kRows || g * 128 + b * 32 >= kCols) continue;
        plain.codes.emplace_back();
        for (int64_t i = 0; i < 32; ++i)
          plain.codes.back()[size_t(i)] = s.code(r + 3, g * 128 + b * 32 + i, kCols);
        plain.bytes.push_back(s.byte(r + 3, g * 4 + b, kCols));
      }
      const bool inside = !plain.codes.empty();
      ASSERT_EQ(s.get<float>(scales, r, g),
                inside ? float(std::ldexp(1.0, plain.scale() - 127)) : 0.0f);
      for (size_t i = 0; i < 128; ++i)
        ASSERT_EQ(int(s.get<uint8_t>(to, r, g * 128 + int64_t(i))),
                  i / 32 < plain.codes.size() ? int(plain.code(i / 32, int(i % 32))) : 0);
    }
  const auto segments =
      s.segments(StreamMxfp4{.to = to, .scales = scales, .from = from, .from_scales = blocks});
  int64_t bytes = 0;
  for (const auto& segment : segments) bytes += segment.bytes.value;
  EXPECT_EQ(bytes, 2 * (kCols / 2 + kCols / 32));
  EXPECT_EQ(segments[0].address.value, s.context().address(blocks).value);
}

// The same as on the way in, from scratch.
TEST(Semantics, unpack_mxfp4) {
  WeightScene s(6, 320, OutOfBounds::fault);
  const TileRef streamed = s.tile(Space::operand, Format::e4m3, 6, 320);
  const TileRef stream_scales = s.tile(Space::operand, Format::f32, 6, 3);
  const TileRef codes = s.tile(Space::vector, Format::e2m1, 6, 320, 16);
  const TileRef blocks = s.tile(Space::vector, Format::e8m0, 6, 10, 6);
  const TileRef to = s.tile(Space::vector, Format::e4m3, 6, 320, 32);
  const TileRef scales = s.tile(Space::vector, Format::f32, 6, 3, 4);
  s.run(StreamMxfp4{
      .to = streamed, .scales = stream_scales, .from = s.weights, .from_scales = s.blocks});
  s.run(Load{.to = codes, .from = s.weights});
  s.run(Load{.to = blocks, .from = s.blocks});
  s.run(UnpackMxfp4{.to = to, .scales = scales, .from = codes, .blocks = blocks});
  for (int64_t r = 0; r < 6; ++r) {
    for (int64_t c = 0; c < 320; ++c)
      ASSERT_EQ(s.get<uint8_t>(to, r, c), s.get<uint8_t>(streamed, r, c));
    for (int64_t g = 0; g < 3; ++g)
      ASSERT_EQ(s.get<float>(scales, r, g), s.get<float>(stream_scales, r, g));
  }
}

TEST(Mxfp4, Refusals) {
  WeightScene s(4, 128, OutOfBounds::fault);
  const TileRef to = s.tile(Space::operand, Format::e4m3, 4, 128);
  const TileRef scales = s.tile(Space::operand, Format::f32, 4, 1);
  StreamMxfp4 i{.to = to, .scales = scales, .from = s.weights, .from_scales = s.blocks};
  i.from.col = 64;
  EXPECT_NE(s.refusal(i).find("does not begin a group"), std::string::npos);
  i.from.col = 0, i.from.row = i.from_scales.row = 1;
  EXPECT_NE(s.refusal(i).find("leave tensor"), std::string::npos);
  i.from.row = i.from_scales.row = 0, i.scales = s.tile(Space::operand, Format::f32, 4, 2);
  EXPECT_NE(s.refusal(i).find("scales"), std::string::npos);
}

}  // namespace daybreak::isa::test
