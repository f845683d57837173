#include <algorithm>

#include "tests/isa/instructions/bench.hpp"

namespace daybreak::isa::test {

struct Ranked {
  float score;
  int32_t position;
  bool operator==(const Ranked& o) const { return same(score, o.score) && position == o.position; }
};

// The definition: repeatedly the best of what is left.
std::vector<Ranked> plain_topk(std::vector<Ranked> all, size_t k) {
  std::vector<Ranked> out;
  std::erase_if(all, [](const Ranked& r) { return std::isnan(r.score) || r.score == -kInf; });
  std::stable_sort(all.begin(), all.end(), [](const Ranked& a, const Ranked& b) {
    return a.score > b.score || (a.score == b.score && a.position < b.position);
  });
  for (size_t i = 0; i < k; ++i) out.push_back(i < all.size() ? all[i] : Ranked{-kInf, -1});
  for (Ranked& r : out)
    if (r.score == 0) r.score = 0.0f;
  return out;
}

std::vector<Ranked> list_of(Bench& b, const TileRef& t) {
  std::vector<Ranked> out;
  for (uint32_t i = 0; i < t.cols; ++i) out.push_back(b.get<Ranked>(t, 0, i));
  return out;
}

// Score mixtures: all different, few values (ties), zeros of both signs, NaN and infinities.
float score(Bench& b, int kind) {
  if (kind == 0) return b.uniform(-1, 1);
  if (kind == 1) return float(b.integer(-2, 2));
  if (kind == 2) return b.integer(0, 1) ? 0.0f : -0.0f;
  const float edges[] = {kInf, -kInf, kNan, -kNan, 0.0f, -0.0f, 1e-45f, -1e-45f, 3.4e38f, -3.4e38f};
  return edges[b.integer(0, 9)];
}

TEST(Semantics, topk_block) {
  for (int kind = 0; kind < 4; ++kind)
    for (auto [rows, cols, n, k] : {std::tuple{1, 100, 100, 10},
                                    {64, 1, 64, 64},
                                    {1, 50, 33, 64},
                                    {4, 512, 2048, 2048},
                                    {1, 4, 0, 3},
                                    {3, 7, 20, 0}}) {
      Bench b;
      const TileRef x = b.tile(Space::vector, Format::f32, rows, cols, rows == 3 ? 4 : 0);
      const TileRef to = b.tile(Space::vector, Format::record, 1, k);
      std::vector<Ranked> all;
      for (int i = 0; i < rows * cols; ++i) {
        const float s = score(b, kind);
        b.set(x, i / cols, i % cols, s);
        if (i < n) all.push_back({s, 1000 + i});
      }
      b.run(TopkBlock{.to = to, .scores = x, .first = 1000, .count = n, .k = k});
      ASSERT_EQ(list_of(b, to), plain_topk(all, size_t(k))) << "kind " << kind << " n " << n;
    }
  Bench b;
  const TileRef x = b.tile(Space::vector, Format::f32, 1, 8),
                to = b.tile(Space::vector, Format::record, 1, 4);
  EXPECT_NE(b.refusal(TopkBlock{.to = to, .scores = x, .count = 9, .k = 4}), "");
  EXPECT_NE(b.refusal(TopkBlock{.to = to, .scores = x, .count = 8, .k = 5}), "");
  EXPECT_NE(b.refusal(TopkBlock{.to = to, .scores = x, .first = 2147483647, .count = 8, .k = 4}),
            "");
}

TEST(Semantics, merge_topk) {
  for (int kind = 0; kind < 4; ++kind)
    for (int lists = 1; lists <= 4; ++lists)
      for (int k : {1, 40, 130, 300}) {
        Bench b;
        std::array<TileRef, 4> in{};
        std::vector<Ranked> all;
        int32_t position = 0;
        for (int l = 0; l < lists; ++l) {
          in[l] = b.tile(Space::vector, Format::record, 1, uint32_t(20 + 30 * l));
          std::vector<Ranked> part;
          for (uint32_t i = 0; i < in[l].cols - 5; ++i)
            part.push_back({score(b, kind), position++});
          part = plain_topk(part, in[l].cols);  // ends in empty records
          for (uint32_t i = 0; i < in[l].cols; ++i) b.put(in[l], 0, i, part[i]);
          for (const Ranked& r : part)
            if (r.position >= 0) all.push_back(r);
        }
        const TileRef to = b.tile(Space::vector, Format::record, 1, uint32_t(k));
        b.run(MergeTopk{.to = to, .a = in[0], .b = in[1], .c = in[2], .d = in[3], .k = k});
        ASSERT_EQ(list_of(b, to), plain_topk(all, size_t(k)));
      }
  // In place, and an unsorted list is refused.
  Bench b;
  const TileRef a = b.tile(Space::vector, Format::record, 1, 3),
                c = b.tile(Space::vector, Format::record, 1, 3);
  for (int i = 0; i < 3; ++i) {
    b.put(a, 0, i, Ranked{float(9 - 2 * i), i});
    b.put(c, 0, i, Ranked{float(8 - 2 * i), 10 + i});
  }
  b.run(MergeTopk{.to = a, .a = a, .b = c, .k = 3});
  EXPECT_EQ(list_of(b, a), (std::vector<Ranked>{{9, 0}, {8, 10}, {7, 1}}));
  b.put(c, 0, 2, Ranked{100, 3});
  EXPECT_NE(b.refusal(MergeTopk{.to = a, .a = a, .b = c, .k = 3}).find("not sorted"),
            std::string::npos);
}

TEST(Semantics, extract) {
  for (int valid : {0, 1, 37, 64}) {
    Bench b;
    const TileRef list = b.tile(Space::vector, Format::record, 1, 64),
                  to = b.tile(Space::vector, Format::i32, 1, 80);
    const TileRef count = b.tile(Space::vector, Format::i32, 1, 1);
    std::vector<int32_t> positions;
    for (int i = 0; i < 64; ++i) {
      const int32_t p = i < valid ? (i * 7919) % 100'003 : -1;
      b.put(list, 0, i, Ranked{i < valid ? float(64 - i) : -kInf, p});
      if (i < valid) positions.push_back(p);
    }
    std::sort(positions.begin(), positions.end());
    positions.resize(80, -1);
    b.run(Extract{.positions = to, .count = count, .from = list});
    for (int i = 0; i < 80; ++i) ASSERT_EQ(b.get<int32_t>(to, 0, i), positions[i]);
    EXPECT_EQ(b.get<int32_t>(count, 0, 0), valid);
    TileRef small = to;
    small.cols = 10;
    EXPECT_EQ(b.refusal(Extract{.positions = small, .from = list}).empty(), valid <= 10);
  }
}

}  // namespace daybreak::isa::test
