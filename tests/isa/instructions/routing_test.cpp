// Instructions of routing and of gated experts against plain loops.
#include <algorithm>
#include <map>
#include <numeric>

#include "tests/isa/instructions/bench.hpp"

namespace daybreak::isa::test {

TEST(Semantics, select_rows) {
  for (int trial = 0; trial < 60; ++trial) {
    Bench b;
    b.random.seed(uint32_t(trial));
    const int rows = int(b.integer(1, 5)), cols = int(b.integer(1, 70));
    const int count = int(b.integer(0, cols)), slots = int(b.integer(1, 16));
    const int k = int(b.integer(0, slots));
    const TileRef x = b.tile(Space::vector, Format::f32, rows, cols, 4);
    const TileRef v = b.tile(Space::vector, Format::f32, rows, cols);
    const TileRef to = b.tile(Space::vector, Format::i32, rows, slots, 8);
    const TileRef picked = b.tile(Space::vector, Format::f32, rows, slots);
    trial % 2 ? b.randomise_with_edges(x) : b.randomise(x);
    if (trial % 3 == 0)  // ties
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < cols; ++c) b.set(x, r, c, float(b.integer(-1, 1)));
    b.randomise(v);
    b.run(SelectRows{.columns = to,
                     .picked = picked,
                     .scores = x,
                     .values = v,
                     .count = count,
                     .k = k,
                     .missing = -7});
    for (int r = 0; r < rows; ++r) {
      std::vector<int> left(static_cast<size_t>(count));
      std::iota(left.begin(), left.end(), 0);
      std::erase_if(left, [&](int c) { return !(b.value(x, r, c) > -kInf); });
      std::stable_sort(left.begin(), left.end(),
                       [&](int p, int q) { return b.value(x, r, p) > b.value(x, r, q); });
      left.resize(std::min(left.size(), size_t(k)));
      std::sort(left.begin(), left.end());
      for (int i = 0; i < slots; ++i) {
        const int want = i < int(left.size()) ? left[size_t(i)] : -1;
        ASSERT_EQ(b.get<int32_t>(to, r, i), want) << "trial " << trial;
        ASSERT_TRUE(same(b.value(picked, r, i), want < 0 ? -7 : b.value(v, r, want)));
      }
    }
  }
}

TEST(Semantics, keep_groups) {
  for (int trial = 0; trial < 40; ++trial) {
    Bench b;
    b.random.seed(uint32_t(trial));
    const int groups = int(b.integer(1, 8)), size = int(b.integer(1, 9)),
              extra = int(b.integer(0, 3));
    const int keep = int(b.integer(0, groups));
    const TileRef x = b.tile(Space::vector, Format::f32, 3, uint32_t(groups * size + extra));
    b.randomise(x, -4, trial % 2 ? 4.f : -1.f);
    if (trial % 4 == 0)
      for (int c = 0; c < groups * size; ++c) b.set(x, 1, c, float(b.integer(-1, 1)));
    if (trial % 4 == 1) b.set(x, 2, 0, kNan);
    auto want = b.values(x);
    for (auto& row : want) {
      std::vector<std::pair<double, int>> worth;
      for (int g = 0; g < groups; ++g) {
        std::vector<float> v(row.begin() + g * size, row.begin() + (g + 1) * size);
        for (float& f : v) f = f != f ? -kInf : f;
        std::sort(v.rbegin(), v.rend());
        worth.emplace_back(size < 2 ? -v[0] : -(v[0] + v[1]), g);
      }
      std::sort(worth.begin(), worth.end());
      for (int g = keep; g < groups; ++g)
        std::fill_n(row.begin() + worth[size_t(g)].second * size, size, -kInf);
    }
    b.run(KeepGroups{.to = x, .from = x, .count = groups * size, .groups = groups, .keep = keep});
    b.expect(x, want);
  }
  Bench b;
  const TileRef x = b.tile(Space::vector, Format::f32, 1, 7);
  b.randomise(x);
  EXPECT_NE(
      b.refusal(KeepGroups{.to = x, .from = x, .count = 7, .groups = 2, .keep = 1}).find("divide"),
      std::string::npos);
}

TEST(Semantics, rank) {
  for (int trial = 0; trial < 30; ++trial) {
    Bench b;
    b.random.seed(uint32_t(trial));
    const int rows = int(b.integer(1, 9)), cols = int(b.integer(1, 6)), n = int(b.integer(1, 7));
    const TileRef entries = b.tile(Space::vector, Format::i32, rows, cols, 4);
    const TileRef counters = b.tile(Space::vector, Format::i32, 1, n);
    const TileRef to = b.tile(Space::vector, Format::i32, cols, rows, 8);
    std::map<int, int> plain;
    for (int c = 0; c < n; ++c) b.put(counters, 0, c, plain[c] = int32_t(b.integer(0, 100)));
    std::vector<std::pair<int, int>> order;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) b.put(entries, r, c, int32_t(b.integer(-1, n - 1)));
    b.run(Rank{.to = trial % 2 ? to : TileRef{}, .counters = counters, .entries = entries});
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) {
        const int e = b.get<int32_t>(entries, r, c), want = e < 0 ? -1 : plain[e]++;
        if (trial % 2) { ASSERT_EQ(b.get<int32_t>(to, c, r), want); }
      }
    for (int c = 0; c < n; ++c) ASSERT_EQ(b.get<int32_t>(counters, 0, c), plain[c]);
  }
  Bench b;
  const TileRef entries = b.tile(Space::vector, Format::i32, 1, 1);
  const TileRef counters = b.tile(Space::vector, Format::i32, 1, 4);
  for (int32_t bad : {-2, 4}) {
    b.put(entries, 0, 0, bad);
    EXPECT_NE(b.refusal(Rank{.to = {}, .counters = counters, .entries = entries}).find("counters"),
              std::string::npos);
  }
}

TEST(Semantics, sum_columns) {
  Bench b;
  const TileRef sums = b.tile(Space::vector, Format::i32, 1, 33);
  const TileRef x = b.tile(Space::vector, Format::i32, 5, 33, 4);
  std::vector<int> want(33);
  for (int c = 0; c < 33; ++c) {
    b.put(sums, 0, c, want[size_t(c)] = int32_t(b.integer(-50, 50)));
    for (int r = 0; r < 5; ++r) {
      const auto v = int32_t(b.integer(0, 1000));
      b.put(x, r, c, v);
      if (r < 3) want[size_t(c)] += v;
    }
  }
  b.run(SumColumns{.sums = sums, .from = x, .rows = 3});
  for (int c = 0; c < 33; ++c) EXPECT_EQ(b.get<int32_t>(sums, 0, c), want[size_t(c)]);
}

TEST(Semantics, prefix) {
  for (int align : {1, 16}) {
    Bench b;
    const TileRef to = b.tile(Space::vector, Format::i32, 1, 40),
                  lengths = b.tile(Space::vector, Format::i32, 1, 40),
                  offsets = b.tile(Space::vector, Format::i32, 1, 40);
    std::vector<int> want;
    int at = 0;
    for (int i = 0; i < 40; ++i) {
      const auto n = int32_t(b.integer(0, 40)), o = int32_t(b.integer(0, 9));
      b.put(lengths, 0, i, n);
      b.put(offsets, 0, i, o);
      want.push_back(at + o);
      while (n > 0 && at % align) ++at;
      for (int j = 0; j < n; ++j) ++at;
      while (at % align) ++at;
    }
    b.run(Prefix{.to = to, .lengths = lengths, .offsets = offsets, .align = align});
    for (int i = 0; i < 40; ++i) ASSERT_EQ(b.get<int32_t>(to, 0, i), want[size_t(i)]);
    b.put(lengths, 0, 3, int32_t(-1));
    EXPECT_NE(b.refusal(Prefix{.to = to, .lengths = lengths, .offsets = offsets}).find("-1"),
              std::string::npos);
  }
}

TEST(Semantics, work_list) {
  Bench b;
  const TileRef list = b.tile(Space::vector, Format::i32, 6, 4),
                grid = b.tile(Space::vector, Format::i32, 1, 2),
                lengths = b.tile(Space::vector, Format::i32, 1, 5);
  const int32_t sizes[] = {0, 33, 0, 16, 70};
  for (int i = 0; i < 5; ++i) b.put(lengths, 0, i, sizes[i]);
  // Segments of 16: 33 rows take 48, 16 take 16. Pieces of 32: 33 = 32 + 1, 16, 70 = 32 + 32 + 6.
  const std::vector<std::array<int32_t, 4>> all{{1, 0, 33, 0},  {1, 0, 33, 1},  {3, 48, 16, 0},
                                                {4, 64, 70, 0}, {4, 64, 70, 1}, {4, 64, 70, 2}};
  for (int first : {0, 2, 6}) {
    b.run(WorkList{.list = list,
                   .grid = grid,
                   .lengths = lengths,
                   .first = first,
                   .align = 16,
                   .piece = 32,
                   .parts = 3,
                   .most = 16});
    EXPECT_EQ(b.get<int32_t>(grid, 0, 0), 6);
    EXPECT_EQ(b.get<int32_t>(grid, 0, 1), 16);
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 4; ++c)
        EXPECT_EQ(b.get<int32_t>(list, r, c),
                  r + first < 6 ? all[size_t(r + first)][size_t(c)] : -1);
  }
  for (int i = 0; i < 5; ++i) b.put(lengths, 0, i, int32_t(0));
  b.run(WorkList{
      .list = list, .grid = grid, .lengths = lengths, .piece = 32, .parts = 3, .most = 16});
  EXPECT_EQ(b.get<int32_t>(grid, 0, 0), 0);
  EXPECT_EQ(b.get<int32_t>(grid, 0, 1), 0);
}

TEST(Semantics, glu) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  struct Form {
    Gating form;
    float factor, limit;
  };
  for (const Form f : {Form{Gating::silu, 1, 0},
                       {Gating::silu, 1, 2},
                       {Gating::swiglu, 1.702f, 7},
                       {Gating::situ, 4, 25}}) {
    Bench b;
    const TileRef gate = b.tile(Space::accumulator, Format::f32, 9, 40),
                  up = b.tile(Space::accumulator, Format::f32, 9, 40),
                  to = b.tile(Space::vector, Format::f32, 9, 40);
    b.randomise(gate, -20, 20);
    b.randomise(up, -20, 20);
    b.set(up, 0, 0, kNan);
    b.set(gate, 0, 1, kNan);
    b.run(Glu{
        .to = to, .gate = gate, .up = up, .form = f.form, .factor = f.factor, .limit = f.limit});
    for (int r = 0; r < 9; ++r)
      for (int c = 0; c < 40; ++c) {
        double g = b.value(gate, r, c), u = b.value(up, r, c), want = 0;
        if (g != g || u != u) {
          EXPECT_TRUE(std::isnan(b.value(to, r, c)));
          continue;
        }
        if (f.form != Gating::situ && f.limit > 0)
          g = std::min(g, double(f.limit)), u = std::clamp(u, -double(f.limit), double(f.limit));
        const double k = f.factor, l = f.limit;
        if (f.form == Gating::silu) want = g * sigmoid(g) * u;
        if (f.form == Gating::swiglu) want = g * sigmoid(k * g) * (u + 1);
        if (f.form == Gating::situ) want = k * std::tanh(g / k) * sigmoid(g) * l * std::tanh(u / l);
        // Arguments up to 34 are rounded to fp32 before the exponential.
        EXPECT_NEAR(b.value(to, r, c), want, 1e-5 * std::fabs(want) + 1e-30);
      }
  }
}

// Scaled products as operators.md words them: the sum of each 128 in double, times sa * sb, added in fp32.
TEST(Matrix, GroupScales) {
  for (Format format : {Format::e4m3, Format::bf16})
    for (auto [m, n, k] : {std::tuple{1, 1, 128}, {7, 9, 256}, {16, 24, 320}, {6, 8, 64}}) {
      Bench b;
      const uint32_t groups = uint32_t(k + 127) / 128;
      const TileRef a = b.tile(Space::operand, format, m, k, 4),
                    w = b.tile(Space::operand, format, n, k);
      const TileRef sa = b.tile(Space::operand, Format::f32, m, groups, 4),
                    sb = b.tile(Space::operand, Format::f32, n, groups);
      const TileRef acc = b.tile(Space::accumulator, Format::f32, m, n, 4);
      for (const TileRef& t : {a, w, acc}) b.randomise(t);
      b.randomise(sa, 0.1f, 3);
      b.randomise(sb, 0.1f, 3);
      auto want = b.values(acc);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
          for (int g = 0; g < int(groups); ++g) {
            double sum = 0;
            for (int p = g * 128; p < std::min(k, g * 128 + 128); ++p)
              sum += double(b.value(a, i, p)) * double(b.value(w, j, p));
            want[size_t(i)][size_t(j)] += float(sum) * (b.value(sa, i, g) * b.value(sb, j, g));
          }
      b.run(Mma{.acc = acc,
                .a = a,
                .b = w,
                .a_scales = sa,
                .b_scales = sb,
                .b_transposed = 1,
                .accumulate = 1});
      b.expect(acc, want);
    }
}

TEST(Matrix, FillOfWords) {
  Bench b;
  const TileRef t = b.tile(Space::vector, Format::i32, 3, 5, 4);
  b.run(Fill{.to = t, .value = -1});
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 5; ++c) EXPECT_EQ(b.get<int32_t>(t, r, c), -1);
}

}  // namespace daybreak::isa::test
