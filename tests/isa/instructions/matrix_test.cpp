#include "tests/isa/instructions/bench.hpp"

namespace daybreak::isa::test {

// One output of the matrix unit as the specification words it: chunks in double, ascending, rounded, added.
float plain_dot(const std::vector<float>& a, const std::vector<float>& b, int chunk, float acc) {
  for (size_t first = 0; first < a.size(); first += chunk) {
    double sum = 0;
    for (size_t k = first; k < std::min(a.size(), first + chunk); ++k)
      sum += double(a[k]) * double(b[k]);
    acc += float(sum);
  }
  return acc;
}

void check_mma(Format fa, Format fb, int m, int n, int k, bool transposed, bool accumulate,
               bool edges) {
  Bench b;
  const TileRef a = b.tile(Space::operand, fa, m, k, 2);
  const TileRef w = b.tile(Space::operand, fb, transposed ? n : k, transposed ? k : n, 4);
  const TileRef acc = b.tile(Space::accumulator, Format::f32, m, n, 8);
  for (const TileRef& t : {a, w}) edges ? b.randomise_with_edges(t) : b.randomise(t);
  b.randomise(acc);
  auto want = b.values(acc);
  const int chunk = fa == Format::e4m3 && fb == Format::e4m3 ? 128 : 64;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      std::vector<float> x(k), y(k);
      for (int p = 0; p < k; ++p) {
        x[p] = b.value(a, i, p);
        y[p] = transposed ? b.value(w, j, p) : b.value(w, p, j);
      }
      want[i][j] = plain_dot(x, y, chunk, accumulate ? want[i][j] : 0.0f);
    }
  b.run(Mma{.acc = acc, .a = a, .b = w, .b_transposed = transposed, .accumulate = accumulate});
  b.expect(acc, want);
}

TEST(Semantics, mma) {
  for (Format fa : {Format::bf16, Format::e4m3})
    for (Format fb : {Format::bf16, Format::e4m3})
      for (bool transposed : {false, true})
        for (bool accumulate : {false, true})
          for (auto [m, n, k] :
               {std::tuple{1, 1, 1}, {6, 8, 64}, {7, 9, 130}, {13, 23, 576}, {64, 64, 128}})
            check_mma(fa, fb, m, n, k, transposed, accumulate, m == 7);
}

// Splitting a reduction at a multiple of the chunk changes no bit.
TEST(Matrix, SplitReductionIsIdentical) {
  for (Format f : {Format::bf16, Format::e4m3}) {
    Bench b;
    const TileRef a = b.tile(Space::operand, f, 64, 576), w = b.tile(Space::operand, f, 64, 576);
    const TileRef whole = b.tile(Space::accumulator, Format::f32, 64, 64),
                  parts = b.tile(Space::accumulator, Format::f32, 64, 64);
    b.randomise(a);
    b.randomise(w);
    b.run(Mma{.acc = whole, .a = a, .b = w, .b_transposed = 1});
    const auto columns = [&](TileRef t, uint32_t first, uint32_t n) {
      t.offset += uint32_t(bytes_of(f, first));
      t.cols = n;
      return t;
    };
    b.run(Mma{.acc = parts, .a = columns(a, 0, 256), .b = columns(w, 0, 256), .b_transposed = 1});
    b.run(Mma{.acc = parts,
              .a = columns(a, 256, 320),
              .b = columns(w, 256, 320),
              .b_transposed = 1,
              .accumulate = 1});
    b.expect(parts, b.values(whole));
  }
}

TEST(Matrix, Refusals) {
  Bench b;
  const TileRef a = b.tile(Space::operand, Format::bf16, 4, 64),
                w = b.tile(Space::operand, Format::bf16, 8, 65);
  const TileRef acc = b.tile(Space::accumulator, Format::f32, 4, 8),
                single = b.tile(Space::operand, Format::f32, 8, 64);
  EXPECT_NE(
      b.refusal(Mma{.acc = acc, .a = a, .b = w, .b_transposed = 1}).find("length of the reduction"),
      std::string::npos);
  EXPECT_NE(b.refusal(Mma{.acc = acc, .a = a, .b = single, .b_transposed = 1}).find("must be bf16"),
            std::string::npos);
  EXPECT_NE(b.refusal(Mma{.acc = acc, .a = a, .b = a, .b_transposed = 1}).find("accumulator"),
            std::string::npos);
}

}  // namespace daybreak::isa::test
