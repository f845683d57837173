// Sparse MLA against loops in long double: record forms, padding, sinks, empty rows, splits.
#include "ref/ops/sparse_mla.hpp"

#include <algorithm>
#include <cstring>

#include "configs/reader/errors.hpp"
#include "ref/ops/formats.hpp"
#include "tests/ref/tools.hpp"

namespace daybreak {
namespace {

using namespace ref;
using namespace testing;

std::vector<uint16_t> random_bits(Random& random, size_t count, float sigma) {
  std::vector<uint16_t> bits(count);
  for (uint16_t& b : bits) b = nearest_bf16(random.normal(sigma));
  return bits;
}

// A cache of records with scales that are no powers of two; rows not in `used` are all NaN.
std::vector<uint8_t> records(Random& random, int64_t count, const std::vector<int32_t>& used) {
  std::vector<uint8_t> cache(size_t(count * kRecordBytes), 0xFF);
  for (const int32_t row : used) {
    if (row < 0) continue;
    const auto record =
        encode_record(random.normals(512), random_bits(random, 64, 1), ScaleForm::plain);
    std::copy(record.begin(), record.end(), cache.begin() + row * kRecordBytes);
  }
  return cache;
}

std::vector<double> row_values(const std::vector<uint8_t>& cache, int32_t row) {
  float values[kKeyDim];
  decode_record(cache.data() + row * kRecordBytes, values);
  return {values, values + kKeyDim};
}

AttentionResult plain_loops(const AttentionQuery& query, const std::vector<uint8_t>& cache,
                            const std::vector<int32_t>& indices) {
  AttentionResult result;
  for (int64_t h = 0; h < query.heads; ++h) {
    std::vector<long double> logits;
    std::vector<std::vector<double>> rows;
    for (const int32_t index : indices) {
      if (index < 0) continue;
      rows.push_back(row_values(cache, index));
      long double dot = 0;
      for (size_t d = 0; d < 576; ++d)
        dot += (long double)bf16_value(query.q[size_t(h) * 576 + d]) * rows.back()[d];
      logits.push_back(dot * query.scale);
    }
    long double sum = query.sink.empty() ? 0 : std::exp((long double)query.sink[size_t(h)]);
    long double keys = 0;
    for (const long double logit : logits) keys += std::exp(logit);
    sum += keys;
    for (size_t c = 0; c < 512; ++c) {
      long double out = 0;
      for (size_t i = 0; i < rows.size(); ++i) out += std::exp(logits[i]) / sum * rows[i][c];
      result.out.push_back(rows.empty() ? 0 : double(out));
    }
    result.lse.push_back(rows.empty() ? double(kInf) : double(std::log(keys)));
    result.max.push_back(rows.empty() ? -double(kInf)
                                      : double(*std::max_element(logits.begin(), logits.end())));
  }
  return result;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want, double bound) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isinf(want[i]))
      ASSERT_EQ(got[i], want[i]) << i;
    else
      ASSERT_NEAR(got[i], want[i], bound) << i;
  }
}

void expect_near(const AttentionResult& got, const AttentionResult& want, double bound = 1e-12) {
  expect_near(got.out, want.out, bound);
  expect_near(got.lse, want.lse, bound);
  expect_near(got.max, want.max, bound);
}

std::vector<int32_t> random_list(Random& random, int64_t rows, size_t keys, size_t padding) {
  std::vector<int32_t> list;
  while (list.size() < keys) {
    const int32_t row = int32_t(random.below(rows));
    if (std::find(list.begin(), list.end(), row) == list.end()) list.push_back(row);
  }
  for (size_t i = 0; i < padding; ++i)
    list.insert(list.begin() + random.below(int64_t(list.size()) + 1), -1);
  return list;
}

TEST(SparseMla, EqualsPlainLoops) {
  Random random(1);
  for (const auto& [heads, keys, padding] :
       {std::tuple(1, 1, 0), {3, 5, 3}, {16, 64, 0}, {2, 300, 17}, {130, 33, 31}}) {
    const auto list = random_list(random, 500, size_t(keys), size_t(padding));
    const auto cache = records(random, 500, list);
    const auto q = random_bits(random, size_t(heads) * 576, 1);
    std::vector<float> sink = random.normals(size_t(heads), 2);
    const ByteSource source{std::span<const uint8_t>(cache)};
    for (const bool with_sink : {false, true}) {
      const AttentionQuery query{
          .heads = heads,
          .q = q,
          .scale = 0.0721687836,
          .sink = with_sink ? std::span<const float>(sink) : std::span<const float>()};
      expect_near(sparse_mla(query, {.bytes = source}, list), plain_loops(query, cache, list));
    }
  }
}

TEST(SparseMla, Bf16RowsOfTheSameValuesGiveTheSame) {
  Random random(2);
  const auto list = random_list(random, 40, 40, 5);
  const auto cache = records(random, 40, list);
  const int64_t stride = 1152 + 64;
  std::vector<uint8_t> wide(size_t(40 * stride), 0xFF);
  for (int32_t row = 0; row < 40; ++row) {
    const auto values = row_values(cache, row);
    for (size_t i = 0; i < 576; ++i) {
      const uint16_t bits = nearest_bf16(float(values[i]));
      std::memcpy(wide.data() + row * stride + int64_t(2 * i), &bits, 2);
    }
  }
  const auto q = random_bits(random, 8 * 576, 1);
  const AttentionQuery query{.heads = 8, .q = q, .scale = 0.1};
  const ByteSource narrow_source{std::span<const uint8_t>(cache)};
  const ByteSource wide_source{std::span<const uint8_t>(wide)};
  const auto a = sparse_mla(query, {.bytes = narrow_source}, list);
  const auto b =
      sparse_mla(query, {.bytes = wide_source, .form = RowForm::bf16, .row_bytes = stride}, list);
  EXPECT_EQ(a.out, b.out);
  EXPECT_EQ(a.lse, b.lse);
}

TEST(SparseMla, RowsWithoutKeys) {
  Random random(3);
  const auto q = random_bits(random, 4 * 576, 1);
  const std::vector<float> sink = {0, 1, kInf, -kInf};
  const std::vector<uint8_t> cache(kRecordBytes, 0xFF);  // NaN throughout
  const ByteSource source{std::span<const uint8_t>(cache)};
  for (const std::vector<int32_t>& list :
       {std::vector<int32_t>{}, {-1}, std::vector<int32_t>(2048, -1)}) {
    const auto result =
        sparse_mla({.heads = 4, .q = q, .scale = 1, .sink = sink}, {.bytes = source}, list);
    EXPECT_EQ(result.out, std::vector<double>(4 * 512, 0));
    EXPECT_EQ(result.lse, std::vector<double>(4, kInf));
    EXPECT_EQ(result.max, std::vector<double>(4, -kInf));
  }
}

TEST(SparseMla, InfiniteSinks) {
  Random random(4);
  const auto list = random_list(random, 20, 20, 0);
  const auto cache = records(random, 20, list);
  const auto q = random_bits(random, 2 * 576, 1);
  const std::vector<float> sink = {-kInf, kInf};
  const ByteSource source{std::span<const uint8_t>(cache)};
  const auto with =
      sparse_mla({.heads = 2, .q = q, .scale = 0.1, .sink = sink}, {.bytes = source}, list);
  const auto without = sparse_mla({.heads = 2, .q = q, .scale = 0.1}, {.bytes = source}, list);
  EXPECT_TRUE(std::equal(with.out.begin(), with.out.begin() + 512, without.out.begin()));
  EXPECT_TRUE(std::all_of(with.out.begin() + 512, with.out.end(), [](double x) { return x == 0; }));
  EXPECT_EQ(with.lse, without.lse) << "the log-sum-exp is returned without the sink";
}

TEST(SparseMla, LargeLogitsDoNotOverflow) {
  Random random(5);
  const auto list = random_list(random, 50, 50, 0);
  const auto cache = records(random, 50, list);
  const auto q = random_bits(random, 576, 1e4f);
  const ByteSource source{std::span<const uint8_t>(cache)};
  const auto result = sparse_mla({.heads = 1, .q = q, .scale = 1}, {.bytes = source}, list);
  EXPECT_GT(result.lse[0], 1e4);
  EXPECT_NEAR(result.lse[0], result.max[0], 4);  // at most log(50) above the maximum
  for (const double x : result.out) EXPECT_TRUE(std::isfinite(x));
}

TEST(SparseMla, ANanRowThatIsListedShows) {
  Random random(6);
  const std::vector<int32_t> list = {0, 1, 2};
  auto cache = records(random, 3, list);
  cache[kRecordBytes + 7] = 0x7F;
  const auto q = random_bits(random, 576, 1);
  const ByteSource source{std::span<const uint8_t>(cache)};
  const auto result = sparse_mla({.heads = 1, .q = q, .scale = 1}, {.bytes = source}, list);
  EXPECT_TRUE(std::isnan(result.lse[0]));
  for (const double x : result.out) EXPECT_TRUE(std::isnan(x));
}

TEST(SparseMla, ReadersBehind32BitOffsets) {
  Random random(7);
  const std::vector<int32_t> near = {0, 1, 2}, far = {2147483647, 7000000, 6999999};
  const auto cache = records(random, 3, near);
  const auto q = random_bits(random, 2 * 576, 1);
  const AttentionQuery query{.heads = 2, .q = q, .scale = 0.1};
  const ByteSource source{std::span<const uint8_t>(cache)};
  const ByteSource sparse(uint64_t(2147483648) * 656, [&](uint64_t offset, std::span<uint8_t> to) {
    const auto found = std::find(far.begin(), far.end(), int32_t(offset / 656));
    ASSERT_NE(found, far.end());
    std::memcpy(to.data(), cache.data() + (found - far.begin()) * 656 + int64_t(offset % 656),
                to.size());
  });
  EXPECT_EQ(sparse_mla(query, {.bytes = sparse}, far).out,
            sparse_mla(query, {.bytes = source}, near).out);
}

TEST(CombineSplits, EqualsTheWhole) {
  Random random(8);
  const auto list = random_list(random, 400, 333, 20);
  const auto cache = records(random, 400, list);
  const auto q = random_bits(random, 16 * 576, 1);
  const std::vector<float> sink = random.normals(16);
  const ByteSource source{std::span<const uint8_t>(cache)};
  const LatentRows rows{.bytes = source};
  const AttentionQuery query{.heads = 16, .q = q, .scale = 0.2};
  AttentionQuery with_sink = query;
  with_sink.sink = sink;
  for (const size_t parts : {1u, 2u, 5u, 16u}) {
    std::vector<AttentionResult> splits;
    for (size_t i = 0; i < parts; ++i) {
      const size_t first = list.size() * i / parts, last = list.size() * (i + 1) / parts;
      splits.push_back(
          sparse_mla(query, rows, std::span<const int32_t>(list).subspan(first, last - first)));
    }
    splits.push_back(sparse_mla(query, rows, std::vector<int32_t>(7, -1)));  // an empty split
    expect_near(combine_splits(splits), sparse_mla(query, rows, list));
    expect_near(combine_splits(splits, sink), sparse_mla(with_sink, rows, list));
  }
}

TEST(CombineSplits, AllSplitsEmpty) {
  const AttentionResult empty{
      .out = std::vector<double>(1024), .lse = {kInf, kInf}, .max = {-kInf, -kInf}};
  const auto result =
      combine_splits(std::vector<AttentionResult>(3, empty), std::vector<float>{0, kInf});
  EXPECT_EQ(result.out, empty.out);
  EXPECT_EQ(result.lse, empty.lse);
  EXPECT_EQ(result.max, empty.max);
}

TEST(SparseMla, ShapesThatDisagreeAreErrors) {
  const std::vector<uint8_t> cache(2 * kRecordBytes);
  const ByteSource source{std::span<const uint8_t>(cache)};
  const std::vector<uint16_t> q(576);
  EXPECT_THROW(sparse_mla({.heads = 2, .q = q}, {.bytes = source}, {}), InvariantError);
  EXPECT_THROW(sparse_mla({.heads = 1, .q = q}, {.bytes = source}, std::vector<int32_t>{2}),
               InvariantError);
  EXPECT_THROW(sparse_mla({.heads = 1, .q = q}, {.bytes = source}, std::vector<int32_t>{-2}),
               InvariantError);
  EXPECT_THROW(
      sparse_mla({.heads = 1, .q = q, .sink = std::vector<float>(3)}, {.bytes = source}, {}),
      InvariantError);
  EXPECT_THROW(combine_splits({}), InvariantError);
}

}  // namespace
}  // namespace daybreak
