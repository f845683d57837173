#include "tests/isa/instructions/bench.hpp"

namespace daybreak::isa::test {

float plain_max(const std::vector<float>& row) {
  float m = -kInf;
  for (float x : row)
    if (x > m) m = x;
  return m + 0.0f;
}

TEST(Semantics, row_reduce) {
  for (Format f : {Format::f32, Format::bf16})
    for (auto [rows, cols] : {std::pair{1, 100}, {8, 64}, {13, 7}, {64, 1}, {3, 0}}) {
      Bench b;
      const TileRef x = b.tile(Space::accumulator, f, rows, cols, 4),
                    y = b.tile(Space::vector, Format::f32, rows, 1);
      b.randomise_with_edges(x);
      const auto v = b.values(x);
      std::vector<std::vector<float>> sums, largest;
      for (const auto& row : v) {
        float s = 0;
        for (float e : row) s += e;
        sums.push_back({s});
        largest.push_back({plain_max(row)});
      }
      b.run(RowReduce{.to = y, .from = x, .function = Reduction::sum});
      b.expect(y, sums);
      b.run(RowReduce{.to = y, .from = x, .function = Reduction::maximum});
      b.expect(y, largest);
    }
}

TEST(Semantics, raise_rows) {
  Bench b;
  const TileRef x = b.tile(Space::accumulator, Format::f32, 64, 31),
                old = b.tile(Space::vector, Format::f32, 64, 1);
  for (float slack : {0.0f, 1.5f}) {
    b.randomise_with_edges(x);
    b.randomise(old, 0, 5);
    b.set(old, 0, 0, -kInf);
    const auto v = b.values(x), before = b.values(old);
    auto want = before;
    for (int r = 0; r < 64; ++r)
      if (plain_max(v[r]) > before[r][0] + slack) want[r][0] = plain_max(v[r]);
    b.run(RaiseRows{.to = old, .old = old, .from = x, .slack = slack});  // in place
    b.expect(old, want);
  }
}

TEST(Semantics, row_apply) {
  Bench b;
  const TileRef x = b.tile(Space::vector, Format::bf16, 9, 33, 2),
                v = b.tile(Space::vector, Format::f32, 9, 1, 12);
  const TileRef y = b.tile(Space::vector, Format::f32, 9, 33);
  b.randomise_with_edges(x);
  b.randomise(v);
  b.set(v, 4, 0, 0);
  b.set(v, 5, 0, -0.0f);
  auto want = b.values(x);
  for (int r = 0; r < 9; ++r)
    for (float& e : want[r]) e = r == 4 || r == 5 ? 7.0f : e / b.value(v, r, 0);
  b.run(RowApply{.to = y, .from = x, .rows = v, .function = Arithmetic::divide, .when_zero = 7});
  b.expect(y, want);
  want = b.values(x);
  for (int r = 0; r < 9; ++r)
    for (float& e : want[r]) e = e * b.value(v, r, 0);
  b.run(RowApply{.to = y, .from = x, .rows = v});
  b.expect(y, want);
}

TEST(Semantics, column_apply) {
  for (bool upright : {false, true}) {
    Bench b;
    const TileRef x = b.tile(Space::vector, Format::f32, 5, 40),
                  y = b.tile(Space::vector, Format::bf16, 5, 40);
    const TileRef v = b.tile(Space::vector, Format::f32, upright ? 40 : 1, upright ? 1 : 40);
    b.randomise_with_edges(x);
    b.randomise(v);
    auto want = b.values(x);
    for (auto& row : want)
      for (int c = 0; c < 40; ++c) row[c] -= upright ? b.value(v, c, 0) : b.value(v, 0, c);
    b.run(ColumnApply{.to = y, .from = x, .columns = v, .function = Arithmetic::subtract});
    b.expect(y, want);
  }
  Bench b;
  const TileRef x = b.tile(Space::vector, Format::f32, 5, 40),
                v = b.tile(Space::vector, Format::f32, 5, 8);
  EXPECT_NE(b.refusal(ColumnApply{.to = x, .from = x, .columns = v}), "");
}

TEST(Semantics, exp2_rows) {
  Bench b;
  const TileRef x = b.tile(Space::accumulator, Format::f32, 64, 100),
                m = b.tile(Space::vector, Format::f32, 64, 1);
  const TileRef y = b.tile(Space::vector, Format::f32, 64, 100);
  b.randomise(x, -800, 800);
  b.randomise(m, -10, 10);
  const float edges[] = {-kInf, kInf, kNan, -1e30f, 3e38f};
  for (int i = 0; i < 5; ++i) b.set(x, 3, i, edges[i]);
  const float scale = 0.3f;
  b.run(Exp2Rows{.to = y, .from = x, .max = m, .scale = scale});
  for (int r = 0; r < 64; ++r)
    for (int c = 0; c < 100; ++c) {
      const volatile float difference = b.value(x, r, c) - b.value(m, r, 0);
      const float exponent = difference * scale;
      const double want = std::exp2(double(exponent));
      const float got = b.value(y, r, c);
      if (exponent >= 128) {
        ASSERT_EQ(got, kInf);
      } else if (exponent != exponent) {
        ASSERT_TRUE(std::isnan(got));
      } else if (exponent < -126) {
        ASSERT_NEAR(got, want, 0x1p-149);
      } else {
        ASSERT_LT(std::fabs(got - want), want * 0x1p-22) << exponent;
      }
    }
  // Exact where an exponent is whole, 0 for what is far below.
  const TileRef whole = b.tile(Space::vector, Format::f32, 1, 280),
                zero = b.tile(Space::vector, Format::f32, 1, 1);
  const TileRef out = b.tile(Space::vector, Format::f32, 1, 280);
  b.set(zero, 0, 0, 0);
  for (int i = 0; i < 280; ++i) b.set(whole, 0, i, float(i - 150));
  b.run(Exp2Rows{.to = out, .from = whole, .max = zero});
  for (int i = 0; i < 280; ++i) EXPECT_EQ(b.value(out, 0, i), float(std::exp2(i - 150.0))) << i;
}

TEST(Semantics, scale_add) {
  Bench b;
  const TileRef y = b.tile(Space::vector, Format::f32, 64, 1),
                f = b.tile(Space::vector, Format::f32, 64, 1);
  const TileRef a = b.tile(Space::vector, Format::f32, 64, 1, 4);
  for (const TileRef& t : {y, f, a}) b.randomise_with_edges(t);
  auto want = b.values(y);
  for (int r = 0; r < 64; ++r) {
    const volatile float product = want[r][0] * b.value(f, r, 0);
    want[r][0] = product + b.value(a, r, 0);
  }
  b.run(ScaleAdd{.to = y, .factor = f, .addend = a});
  b.expect(y, want);
}

TEST(Semantics, log2_rows) {
  Bench b;
  const TileRef m = b.tile(Space::vector, Format::f32, 200, 1),
                s = b.tile(Space::vector, Format::f32, 200, 1);
  const TileRef y = b.tile(Space::vector, Format::f32, 200, 1);
  b.randomise(m, -300, 300);
  b.randomise(s, 1e-6f, 4000);
  b.set(s, 0, 0, 0);
  b.set(s, 1, 0, 1);
  b.set(s, 2, 0, 1e-42f);
  b.set(s, 3, 0, kNan);
  const float scale = 0.195f;
  b.run(Log2Rows{.to = y, .max = m, .sum = s, .scale = scale});
  EXPECT_EQ(b.value(y, 0, 0), kInf);
  EXPECT_TRUE(std::isnan(b.value(y, 3, 0)));
  for (int r = 1; r < 200; ++r) {
    const double want =
        double(b.value(m, r, 0)) * scale * std::log(2.0) + std::log(double(b.value(s, r, 0)));
    if (r == 3) continue;
    ASSERT_NEAR(b.value(y, r, 0), want, std::max(1e-7, std::fabs(want) * 0x1p-23)) << r;
  }
}

TEST(Semantics, norm_rows) {
  for (bool centre : {false, true}) {
    Bench b;
    const TileRef x = b.tile(Space::vector, Format::bf16, 5, 512),
                  w = b.tile(Space::vector, Format::f32, 1, 512);
    const TileRef bias = b.tile(Space::vector, Format::f32, 1, 512),
                  y = b.tile(Space::vector, Format::f32, 5, 512);
    for (const TileRef& t : {x, w, bias}) b.randomise(t);
    for (int c = 0; c < 512; ++c) b.set(x, 2, c, 0);
    NormRows n{.to = y, .from = x, .weight = w, .epsilon = 1e-5f, .centre = centre};
    if (centre) n.bias = bias;
    b.run(n);
    for (int r = 0; r < 5; ++r) {
      double mean = 0, square = 0;
      for (int c = 0; c < 512; ++c) mean += centre ? b.value(x, r, c) / 512.0 : 0;
      for (int c = 0; c < 512; ++c) square += std::pow(b.value(x, r, c) - mean, 2) / 512;
      for (int c = 0; c < 512; ++c) {
        const double unit = (b.value(x, r, c) - mean) / std::sqrt(square + 1e-5) * b.value(w, 0, c);
        ASSERT_NEAR(b.value(y, r, c), unit + (centre ? b.value(bias, 0, c) : 0), 2e-5);
      }
    }
  }
}

TEST(Semantics, rope) {
  for (int interleaved : {0, 1})
    for (uint32_t angle_rows : {1u, 4u}) {
      Bench b;
      const TileRef x = b.tile(Space::vector, Format::bf16, 4, 64),
                    y = b.tile(Space::vector, Format::bf16, 4, 64);
      const TileRef a = b.tile(Space::vector, Format::f32, angle_rows, 64);
      b.randomise(x);
      b.randomise(a, -1, 1);
      auto want = b.values(x);
      for (int r = 0; r < 4; ++r)
        for (int i = 0; i < 32; ++i) {
          const int p = interleaved ? 2 * i : i, q = interleaved ? 2 * i + 1 : i + 32;
          const float cosine = b.value(a, angle_rows == 1 ? 0 : r, i),
                      sine = b.value(a, angle_rows == 1 ? 0 : r, i + 32);
          const float u = b.value(x, r, p), v = b.value(x, r, q);
          const volatile float uc = u * cosine, vs = v * sine, vc = v * cosine, us = u * sine;
          want[r][p] = uc - vs;
          want[r][q] = vc + us;
        }
      b.run(Rope{.to = y, .from = x, .angles = a, .interleaved = interleaved});
      b.expect(y, want);
      b.run(Rope{.to = x, .from = x, .angles = a, .interleaved = interleaved});  // in place
      b.expect(x, want);
    }
}

TEST(Semantics, hadamard) {
  Bench b;
  for (uint32_t n : {1u, 2u, 64u, 128u}) {
    const TileRef x = b.tile(Space::vector, Format::bf16, 3, n),
                  y = b.tile(Space::vector, Format::f32, 3, n);
    b.randomise(x);
    b.run(Hadamard{.to = y, .from = x});
    for (int r = 0; r < 3; ++r)
      for (uint32_t i = 0; i < n; ++i) {
        double sum = 0;
        for (uint32_t j = 0; j < n; ++j)
          sum += (std::popcount(i & j) % 2 ? -1 : 1) * double(b.value(x, r, j));
        ASSERT_NEAR(b.value(y, r, i), sum / std::sqrt(n), 2e-6 * n);
      }
  }
  const TileRef odd = b.tile(Space::vector, Format::f32, 1, 96);
  EXPECT_NE(b.refusal(Hadamard{.to = odd, .from = odd}).find("power of two"), std::string::npos);
}

}  // namespace daybreak::isa::test
