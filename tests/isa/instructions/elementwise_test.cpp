#include "tests/isa/instructions/bench.hpp"

namespace daybreak::isa::test {

constexpr Format kArithmetic[] = {Format::f32, Format::bf16, Format::e4m3};

// y = f(x...) for every element, checked for all formats, odd extents and padded rows.
template <class Make, class F> void check_elementwise(int operands, Make make, F f) {
  for (Format in : kArithmetic)
    for (Format out : kArithmetic)
      for (auto [rows, cols, gap] : {std::tuple{3, 37, 4}, {1, 64, 0}, {17, 1, 0}, {8, 8, 8}}) {
        Bench b;
        std::vector<TileRef> x;
        for (int i = 0; i < operands; ++i) {
          x.push_back(b.tile(Space::vector, in, rows, cols, gap));
          b.randomise_with_edges(x.back());
        }
        const TileRef to = b.tile(Space::accumulator, out, rows, cols, gap);
        std::vector<std::vector<float>> want(rows, std::vector<float>(cols));
        for (int r = 0; r < rows; ++r)
          for (int c = 0; c < cols; ++c) {
            std::array<float, 3> v{};
            for (int i = 0; i < operands; ++i) v[i] = b.value(x[i], r, c);
            want[r][c] = f(v);
          }
        b.run(make(to, x));
        b.expect(to, want);
      }
}

TEST(Semantics, fill) {
  check_elementwise(
      0, [](TileRef to, auto&) { return Fill{.to = to, .value = 1.7f}; },
      [](auto) { return 1.7f; });
}
TEST(Semantics, fma) {
  check_elementwise(
      3, [](TileRef to, auto& x) { return Fma{.to = to, .a = x[0], .b = x[1], .c = x[2]}; },
      [](auto v) {
        const volatile float product = v[0] * v[1];
        return product + v[2];
      });
}
TEST(Semantics, cast) {
  check_elementwise(
      1, [](TileRef to, auto& x) { return Cast{.to = to, .from = x[0]}; },
      [](auto v) { return v[0]; });
}
TEST(Semantics, combine) {
  const std::pair<Arithmetic, float (*)(float, float)> all[] = {
      {Arithmetic::add, [](float a, float b) { return a + b; }},
      {Arithmetic::subtract, [](float a, float b) { return a - b; }},
      {Arithmetic::multiply, [](float a, float b) { return a * b; }},
      {Arithmetic::divide, [](float a, float b) { return a / b; }},
      {Arithmetic::maximum, [](float a, float b) {
         if (std::isnan(a) || std::isnan(b)) return kNan;
         if (a == 0 && b == 0) return std::signbit(a) && std::signbit(b) ? -0.0f : 0.0f;
         return a > b ? a : b;
       }}};
  for (auto [function, f] : all)
    check_elementwise(
        2,
        [&](TileRef to, auto& x) {
          return Combine{.to = to, .a = x[0], .b = x[1], .function = function};
        },
        [&](auto v) { return f(v[0], v[1]); });
}

// The transcendental ones against double; exact ones exactly.
TEST(Semantics, map) {
  check_elementwise(
      1,
      [](TileRef to, auto& x) { return Map{.to = to, .from = x[0], .function = Function::relu}; },
      [](auto v) { return v[0] > 0 || std::isnan(v[0]) ? v[0] : 0.0f; });
  check_elementwise(
      1, [](TileRef to, auto& x) { return Map{.to = to, .from = x[0], .factor = 0.375f}; },
      [](auto v) { return v[0] * 0.375f; });
  const std::pair<Function, double (*)(double)> all[] = {
      {Function::silu, [](double x) { return x / (1 + std::exp(-x)); }},
      {Function::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {Function::tanh, [](double x) { return std::tanh(x); }},
      {Function::exp2, [](double x) { return std::exp2(x); }}};
  for (auto [function, f] : all) {
    Bench b;
    const TileRef x = b.tile(Space::vector, Format::f32, 64, 256),
                  y = b.tile(Space::vector, Format::f32, 64, 256);
    b.randomise(x, -30, 30);
    for (int i = 0; i < 100; ++i) b.set(x, 0, i, b.uniform(-1e-3f, 1e-3f));
    b.run(Map{.to = y, .from = x, .function = function});
    for (int r = 0; r < 64; ++r)
      for (int c = 0; c < 256; ++c) {
        const double want = f(b.value(x, r, c));
        ASSERT_NEAR(b.value(y, r, c), want, std::fabs(want) * 0x1p-22)
            << name_of(function) << " of " << b.value(x, r, c);
      }
    b.set(x, 0, 0, kNan);
    b.set(x, 0, 1, kInf);
    b.set(x, 0, 2, -kInf);
    b.set(x, 0, 3, 0);
    b.run(Map{.to = y, .from = x, .function = function});
    EXPECT_TRUE(std::isnan(b.value(y, 0, 0)));
    EXPECT_EQ(b.value(y, 0, 1),
              function == Function::sigmoid || function == Function::tanh ? 1 : kInf);
    EXPECT_EQ(b.value(y, 0, 2), function == Function::tanh ? -1 : 0);
    EXPECT_EQ(b.value(y, 0, 3), float(f(0)));
  }
}

// Bits of NaN results do not depend on operands.
TEST(Elementwise, EveryNanHasOneForm) {
  Bench b;
  const TileRef x = b.tile(Space::vector, Format::f32, 1, 2),
                y = b.tile(Space::vector, Format::f32, 1, 2);
  b.put(x, 0, 0, uint32_t{0xFFC12345});
  b.set(x, 0, 1, kInf);
  b.run(Combine{.to = y, .a = x, .b = x, .function = Arithmetic::subtract});
  EXPECT_EQ(b.get<uint32_t>(y, 0, 0), 0x7FC00000u);
  EXPECT_EQ(b.get<uint32_t>(y, 0, 1), 0x7FC00000u);
}

TEST(Elementwise, InPlaceAndShapes) {
  Bench b;
  const TileRef x = b.tile(Space::vector, Format::f32, 5, 21);
  b.randomise(x);
  auto want = b.values(x);
  for (auto& row : want)
    for (float& v : row) v = v * v;
  b.run(Combine{.to = x, .a = x, .b = x, .function = Arithmetic::multiply});
  b.expect(x, want);
  const TileRef other = b.tile(Space::vector, Format::f32, 5, 20);
  EXPECT_NE(b.refusal(Cast{.to = x, .from = other}).find("must be 5x21"), std::string::npos);
  TileRef outside = x;
  outside.offset = uint32_t(Bench::kScratch) - 8;
  EXPECT_NE(b.refusal(Fill{.to = outside}).find("past the scratchpad"), std::string::npos);
  TileRef integers = x;
  integers.format = Format::u8;
  EXPECT_NE(b.refusal(Fill{.to = integers}).find("cannot be used in arithmetic"),
            std::string::npos);
}

TEST(Semantics, move) {
  Bench b;
  for (Format f :
       {Format::f32, Format::bf16, Format::e4m3, Format::u8, Format::record, Format::i32}) {
    const TileRef x = b.tile(Space::vector, f, 5, 13, 6), y = b.tile(Space::operand, f, 5, 13, 2);
    for (int r = 0; r < 5; ++r)
      for (int64_t i = 0; i < x.row_bytes(); ++i)
        *(b.at(x, r, 0) + i) = std::byte(b.integer(0, 255));
    b.run(Move{.to = y, .from = x});
    for (int r = 0; r < 5; ++r)
      EXPECT_EQ(std::memcmp(b.at(x, r, 0), b.at(y, r, 0), size_t(x.row_bytes())), 0);
  }
}
TEST(Semantics, drain) {
  Bench b;
  const TileRef x = b.tile(Space::accumulator, Format::f32, 9, 33),
                y = b.tile(Space::vector, Format::bf16, 9, 33, 2);
  b.randomise_with_edges(x);
  b.run(Drain{.to = y, .from = x});
  b.expect(y, b.values(x));
  EXPECT_NE(b.refusal(Drain{.to = y, .from = y}), "");
}

TEST(Semantics, keep_columns) {
  for (Format f : kArithmetic)
    for (int kept : {-3, 0, 1, 20, 37, 99}) {
      Bench b;
      const TileRef x = b.tile(Space::vector, f, 3, 37, 8);
      b.randomise(x);
      auto want = b.values(x);
      for (auto& row : want)
        for (int c = std::max(kept, 0); c < 37; ++c) row[c] = -1e30f;
      b.run(KeepColumns{.tile = x, .count = kept});
      b.expect(x, want);
    }
}

TEST(Semantics, dequantise) {
  Bench b;
  const TileRef x = b.tile(Space::vector, Format::e4m3, 7, 512, 144),
                s = b.tile(Space::vector, Format::f32, 7, 4);
  const TileRef y = b.tile(Space::operand, Format::bf16, 7, 512);
  for (int r = 0; r < 7; ++r)
    for (int c = 0; c < 512; ++c) b.put(x, r, c, uint8_t(b.integer(0, 255)));
  b.randomise(s, 1e-4f, 0.3f);  // no powers of two
  auto want = b.values(x);
  for (int r = 0; r < 7; ++r)
    for (int c = 0; c < 512; ++c) want[r][c] *= b.value(s, r, c / 128);
  b.run(Dequantise{.to = y, .from = x, .scales = s});
  b.expect(y, want);
  EXPECT_NE(b.refusal(Dequantise{.to = y, .from = x, .scales = s, .group = 100}), "");
}

TEST(Semantics, quantise) {
  for (int power : {0, 1}) {
    Bench b;
    const TileRef x = b.tile(Space::vector, Format::bf16, 6, 256),
                  s = b.tile(Space::vector, Format::f32, 6, 2);
    const TileRef y = b.tile(Space::vector, Format::e4m3, 6, 256, 4);
    b.randomise(x, -100, 100);
    for (int c = 0; c < 256; ++c) b.set(x, 0, c, 0);      // all zero: the smallest scale
    for (int c = 0; c < 256; ++c) b.set(x, 1, c, 1e-7f);  // below the clamp
    b.run(Quantise{.to = y, .scales = s, .from = x, .power_of_two = power});
    for (int r = 0; r < 6; ++r)
      for (int g = 0; g < 2; ++g) {
        float largest = 1e-4f;
        for (int c = 0; c < 128; ++c)
          largest = std::max(largest, std::fabs(b.value(x, r, g * 128 + c)));
        float scale = largest / 448;
        if (power) scale = float(std::exp2(std::ceil(std::log2(double(scale)))));
        ASSERT_FLOAT_EQ(b.value(s, r, g), scale);
        for (int c = g * 128; c < g * 128 + 128; ++c)
          ASSERT_EQ(b.get<uint8_t>(y, r, c), plain_e4m3(b.value(x, r, c) / b.value(s, r, g)));
      }
  }
}

}  // namespace daybreak::isa::test
