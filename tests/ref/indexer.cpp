// Indexer scores against a plain loop: formats, pages, masks, threads, hostile caches.
#include "ref/ops/indexer.hpp"

#include <cstring>
#include <numeric>

#include "configs/reader/errors.hpp"
#include "ref/ops/formats.hpp"
#include "tests/ref/tools.hpp"

namespace daybreak {
namespace {

using namespace ref;
using namespace testing;

struct Case {
  int64_t tokens, heads, dim, keys;
  std::vector<uint8_t> q, k;
  std::vector<float> weights, scales;

  Case(int64_t t, int64_t h, int64_t d, int64_t n, uint64_t seed)
      : tokens(t), heads(h), dim(d), keys(n) {
    Random random(seed);
    q = random.codes(size_t(t * h * d));
    k = random.codes(size_t(n * d));
    weights = random.normals(size_t(t * h), 0.01f);
    scales.resize(size_t(n));
    for (float& s : scales) s = std::exp(random.normal());
  }
  IndexerQuery query() const {
    return {.tokens = tokens, .heads = heads, .dim = dim, .e4m3 = q, .weights = weights};
  }
  PlainKeys plain() const { return {.keys = keys, .e4m3 = k, .scales = scales}; }
};

// The definition, with the fp32 order of the sum over heads.
float score_of(const Case& c, int64_t t, int64_t s) {
  float sum = 0;
  for (int64_t h = 0; h < c.heads; ++h) {
    long double dot = 0;
    for (int64_t d = 0; d < c.dim; ++d)
      dot += (long double)e4m3_value(c.q[size_t((t * c.heads + h) * c.dim + d)]) *
             e4m3_value(c.k[size_t(s * c.dim + d)]);
    const float rounded = float(dot);
    if (rounded > 0) sum += rounded * c.weights[size_t(t * c.heads + h)];
  }
  return sum * c.scales[size_t(s)];
}

// Pages in the order of `blocks`, everything else filled with `garbage`.
std::vector<uint8_t> paged(const Case& c, const std::vector<int32_t>& blocks, int64_t page_tokens,
                           int64_t page_bytes, int64_t pages, uint8_t garbage) {
  std::vector<uint8_t> cache(size_t(pages * page_bytes), garbage);
  for (int64_t s = 0; s < c.keys; ++s) {
    uint8_t* page = cache.data() + blocks[size_t(s / page_tokens)] * page_bytes;
    const int64_t at = s % page_tokens;
    std::memcpy(page + at * c.dim, c.k.data() + s * c.dim, size_t(c.dim));
    std::memcpy(page + page_tokens * c.dim + at * 4, &c.scales[size_t(s)], 4);
  }
  return cache;
}

TEST(IndexerScores, EqualTheDefinitionBitForBit) {
  for (const Case& c : {Case(1, 64, 128, 300, 1), Case(3, 32, 128, 257, 2), Case(2, 1, 128, 64, 3),
                        Case(8, 5, 64, 511, 4), Case(1, 130, 32, 1, 5)}) {
    const std::vector<float> scores = indexer_scores(c.query(), c.plain());
    ASSERT_EQ(scores.size(), size_t(c.tokens * c.keys));
    for (int64_t t = 0; t < c.tokens; ++t)
      for (int64_t s = 0; s < c.keys; ++s)
        ASSERT_EQ(scores[size_t(t * c.keys + s)], score_of(c, t, s)) << t << " " << s;
  }
}

TEST(IndexerScores, Bf16QueriesAndKeysOfTheSameValuesGiveTheSameScores) {
  const Case c(2, 16, 128, 700, 6);
  const auto bits = [](const std::vector<uint8_t>& codes) {
    std::vector<uint16_t> result;
    for (const uint8_t code : codes) result.push_back(nearest_bf16(e4m3_value(code)));
    return result;
  };
  const auto q = bits(c.q), k = bits(c.k);
  IndexerQuery query = c.query();
  query.e4m3 = {};
  query.bf16 = q;
  const std::vector<float> want = indexer_scores(c.query(), c.plain());
  EXPECT_EQ(indexer_scores(query, c.plain()), want);
  EXPECT_EQ(indexer_scores(query, PlainKeys{.keys = c.keys, .bf16 = k, .scales = c.scales}), want);
}

TEST(IndexerScores, PagesEqualPlainWhateverTheLayout) {
  Random random(7);
  for (const int64_t page_tokens : {1, 16, 64, 100}) {
    const Case c(2, 8, 128, 501, 8);
    const std::vector<float> want = indexer_scores(c.query(), c.plain());
    const int64_t pages = 700, packed = page_tokens * 132;
    std::vector<int32_t> all(size_t(pages), 0);
    std::iota(all.begin(), all.end(), 0);
    for (size_t i = all.size(); i > 1; --i)
      std::swap(all[i - 1], all[size_t(random.below(int64_t(i)))]);
    const int64_t used = (c.keys + page_tokens - 1) / page_tokens;
    std::vector<int32_t> blocks(all.begin(), all.begin() + used);
    blocks.push_back(2147480000);  // entries past the last key are garbage
    blocks.push_back(-1);
    for (const int64_t page_bytes : {packed, packed + 60}) {
      // 0xFF: unused keys and scales are NaN.
      const auto cache = paged(c, blocks, page_tokens, page_bytes, pages, 0xFF);
      const ByteSource source{std::span<const uint8_t>(cache)};
      EXPECT_EQ(
          indexer_scores(c.query(), PagedKeys{.keys = c.keys,
                                              .cache = source,
                                              .blocks = blocks,
                                              .page_tokens = page_tokens,
                                              .page_bytes = page_bytes == packed ? 0 : page_bytes}),
          want);
    }
  }
}

TEST(IndexerScores, ThreadsDoNotChangeABit) {
  for (const int64_t keys : {1, 255, 256, 257, 3000}) {
    const Case c(2, 64, 128, keys, 9);
    // BF16 dots are not exact, so their order would show.
    Random random(10);
    std::vector<uint16_t> q, k;
    for (size_t i = 0; i < c.q.size(); ++i) q.push_back(nearest_bf16(random.normal()));
    for (size_t i = 0; i < c.k.size(); ++i) k.push_back(nearest_bf16(random.normal()));
    IndexerQuery query = c.query();
    query.e4m3 = {};
    query.bf16 = q;
    const PlainKeys plain{.keys = c.keys, .bf16 = k, .scales = c.scales};
    const std::vector<float> one = indexer_scores(query, plain, 1);
    for (const int threads : {2, 3, 7, 64}) EXPECT_EQ(indexer_scores(query, plain, threads), one);
  }
}

TEST(IndexerScores, HiddenKeysAreMinusInfinityAndNeverRead) {
  const Case c(4, 8, 128, 600, 11);
  const std::vector<int32_t> valid = {0, 1, 300, 1000000};
  IndexerQuery query = c.query();
  const std::vector<float> want = indexer_scores(query, c.plain());
  query.valid = valid;
  const std::vector<float> scores = indexer_scores(query, c.plain());
  for (int64_t t = 0; t < 4; ++t)
    for (int64_t s = 0; s < c.keys; ++s)
      ASSERT_EQ(scores[size_t(t * c.keys + s)],
                s < valid[size_t(t)] ? want[size_t(t * c.keys + s)] : -kInf);

  const std::vector<int32_t> few = {0, 3, 10, 64};  // one page of the ten is mapped
  query.valid = few;
  const std::vector<int32_t> blocks = {2, -1, -1};
  Case first(4, 8, 128, 64, 11);
  first.k.assign(c.k.begin(), c.k.begin() + 64 * 128);
  first.scales.assign(c.scales.begin(), c.scales.begin() + 64);
  const auto cache = paged(first, {2}, 64, 8448, 3, 0xFF);
  const ByteSource source{std::span<const uint8_t>(cache)};
  const auto part =
      indexer_scores(query, PagedKeys{.keys = 600, .cache = source, .blocks = blocks});
  EXPECT_EQ(part[size_t(3 * 600 + 63)], want[size_t(3 * 600 + 63)]);
  EXPECT_EQ(part[size_t(3 * 600 + 64)], -kInf);
}

TEST(IndexerScores, ReadersBehind32BitOffsets) {
  const Case c(1, 4, 128, 130, 12);
  const std::vector<int32_t> far = {2000000, 1500000, 600000}, near = {2, 1, 0};  // 16.9 GB in
  const auto cache = paged(c, near, 64, 8448, 3, 0xFF);
  const ByteSource source(uint64_t(2000001) * 8448, [&](uint64_t offset, std::span<uint8_t> to) {
    for (size_t i = 0; i < 3; ++i) {
      const uint64_t base = uint64_t(far[i]) * 8448;
      if (offset >= base && offset < base + 8448)
        return void(
            std::memcpy(to.data(), cache.data() + near[i] * 8448 + (offset - base), to.size()));
    }
    ADD_FAILURE() << "reads offset " << offset;
  });
  for (const int threads : {1, 4})
    EXPECT_EQ(
        indexer_scores(c.query(), PagedKeys{.keys = 130, .cache = source, .blocks = far}, threads),
        indexer_scores(c.query(), c.plain()));
}

TEST(IndexerScores, NanStaysWithItsKeyOrToken) {
  Case c(2, 8, 128, 300, 13);
  const std::vector<float> clean = indexer_scores(c.query(), c.plain());
  c.k[100 * 128 + 5] = 0x7F;
  c.scales[200] = kNan;
  std::vector<float> scores = indexer_scores(c.query(), c.plain());
  for (size_t i = 0; i < scores.size(); ++i) {
    if (i % 300 == 100 || i % 300 == 200)
      EXPECT_TRUE(std::isnan(scores[i])) << i;
    else
      ASSERT_EQ(scores[i], clean[i]) << i;
  }
  c.q[size_t(c.heads * c.dim) + 3] = 0xFF;  // a query element of token 1
  scores = indexer_scores(c.query(), c.plain());
  for (size_t i = 0; i < 300; ++i) EXPECT_TRUE(std::isnan(scores[300 + i]));
  EXPECT_EQ(scores[0], clean[0]);
}

TEST(IndexerScores, ZeroQueriesGiveZeros) {
  Case c(1, 64, 128, 100, 14);
  std::fill(c.q.begin(), c.q.end(), uint8_t(0x80));
  for (const float s : indexer_scores(c.query(), c.plain())) EXPECT_EQ(s, 0);
}

TEST(IndexerScores, EmptyShapes) {
  const Case no_keys(2, 4, 128, 0, 15), no_tokens(0, 4, 128, 10, 16);
  EXPECT_TRUE(indexer_scores(no_keys.query(), no_keys.plain()).empty());
  EXPECT_TRUE(indexer_scores(no_tokens.query(), no_tokens.plain(), 3).empty());
}

TEST(IndexerScores, ShapesThatDisagreeAreErrors) {
  const Case c(1, 4, 128, 130, 17);
  IndexerQuery query = c.query();
  query.heads = 5;
  EXPECT_THROW(indexer_scores(query, c.plain()), InvariantError);
  PlainKeys plain = c.plain();
  plain.keys = 131;
  EXPECT_THROW(indexer_scores(c.query(), plain), InvariantError);
  const std::vector<uint8_t> cache(2 * 8448);
  const ByteSource source{std::span<const uint8_t>(cache)};
  for (const std::vector<int32_t>& blocks :
       {std::vector<int32_t>{0, 1}, {0, 1, -1}, {0, 1, 2}, {0, 2147480000, 1}})
    for (const int threads : {1, 2})
      EXPECT_THROW(
          indexer_scores(c.query(), PagedKeys{.keys = 130, .cache = source, .blocks = blocks},
                         threads),
          InvariantError);
}

}  // namespace
}  // namespace daybreak
