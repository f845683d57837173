#include "tests/kernels/library/mla_scene.hpp"

#include <algorithm>

#include "ref/compare/tolerance.hpp"
#include "ref/ops/formats.hpp"

namespace daybreak::kernels {
namespace {

// Weights are rounded to BF16: with a handful of keys an output may be off by 2^-10 of a value, and
// the published tolerance (abs 1e-3) is meant for values of a tenth.
constexpr float kLatentDeviation = 0.1f;

}  // namespace

MlaScene::MlaScene(MlaShape s)
    : shape(std::move(s)), random(shape.seed), heads(dsa::padded_heads(shape.heads)) {
  const int64_t longest =
      shape.valid.empty() ? 0 : *std::max_element(shape.valid.begin(), shape.valid.end());
  context = 2 * longest + 3;
  pages = shape.first_page + (context + shape.page_tokens - 1) / shape.page_tokens;
  const int64_t n = std::max<int64_t>(tokens() * heads, 1),
                first_row = shape.first_page * shape.page_tokens;
  std::vector<uint16_t> queries(static_cast<size_t>(n * dsa::kDim));
  for (int64_t r = 0; r < n; ++r)
    if (r % heads < shape.heads)
      for (int64_t c = 0; c < dsa::kDim; ++c)
        queries[size_t(r * dsa::kDim + c)] = random.bf16(0.3f);
  q = put("q", queries);
  fill_cache();
  std::vector<int32_t> table(size_t(std::max<int64_t>(tokens(), 1) * dsa::kTopk), -1);
  for (int64_t t = 0; t < tokens(); ++t)
    for (int32_t i = 0; i < shape.valid[size_t(t)]; ++i)
      table[size_t(t * dsa::kTopk + i)] = int32_t(first_row + 2 * i + random.below(2));
  rows = put("rows", table);
  std::vector<int32_t> stamp;
  for (int64_t t = 0; t < tokens(); ++t) stamp.insert(stamp.end(), {7, 0});
  stamps = put("stamps", stamp);
  requests = put("requests", std::vector<int32_t>{0, int32_t(pages), 7, 0});
  valid = put("valid", shape.valid);
  auto logits = random.normals(heads, 3);
  if (shape.heads > 2)
    logits[0] = -std::numeric_limits<float>::infinity(),
    logits[1] = std::numeric_limits<float>::infinity();
  sinks = put("sinks", logits);
  out = garbage<uint16_t>("out", n * dsa::kLatent);
  lse = garbage<float>("lse", n);
  partial_out = garbage<float>("partial out", n * dsa::kLatent * shape.splits);
  partial_lse = garbage<float>("partial lse", n * shape.splits);
}

// Rows [first page, ..) hold latents where the table may point, garbage elsewhere.
void MlaScene::fill_cache() {
  const int64_t record = shape.fp8 ? ref::kRecordBytes : dsa::kDim * 2;
  cache = room("cache", pages * shape.page_tokens * record);
  const int64_t first = shape.first_page * shape.page_tokens;
  for (int64_t row = first; row < pages * shape.page_tokens; ++row) {
    const Address at(bindings[cache].base.value + uint64_t(row * record));
    if (row - first >= context - 2) {
      memory.write(at, std::vector<std::byte>(size_t(record), std::byte{0xFF}));
      continue;
    }
    const auto rope = random.bf16s(dsa::kRope);
    const auto latent = random.normals(dsa::kLatent, kLatentDeviation);
    if (shape.fp8) {
      const auto bytes = ref::encode_record(latent, rope, shape.scales);
      memory.write(at, std::as_bytes(std::span(bytes)));
    } else {
      std::vector<uint16_t> values;
      for (float x : latent) values.push_back(ref::nearest_bf16(x));
      values.insert(values.end(), rope.begin(), rope.end());
      memory.write(at, std::as_bytes(std::span(values)));
    }
  }
}

void MlaScene::expect() const {
  const auto bytes = source(cache);
  const ref::LatentRows latents{.bytes = bytes,
                                .form = shape.fp8 ? ref::RowForm::fp8_record : ref::RowForm::bf16};
  const auto all_sinks = get<float>(sinks, shape.heads);
  for (int64_t t = 0; t < tokens(); ++t) {
    SCOPED_TRACE(::testing::Message()
                 << "token " << t << " with " << shape.valid[size_t(t)] << " keys");
    const auto queries = get<uint16_t>(q, int64_t(shape.heads) * dsa::kDim, t * heads * dsa::kDim);
    const auto indices = get<int32_t>(rows, dsa::kTopk, t * dsa::kTopk);
    const auto want =
        ref::sparse_mla({.heads = shape.heads,
                         .q = queries,
                         .scale = softmax_scale,
                         .sink = shape.sink ? std::span(all_sinks) : std::span<const float>{}},
                        latents, indices);
    const auto got = ref::bf16_values(
        get<uint16_t>(out, int64_t(shape.heads) * dsa::kLatent, t * heads * dsa::kLatent));
    EXPECT_TRUE(
        passes(ref::compare("out", std::span<const float>(got), std::span<const double>(want.out),
                            ref::tolerance("sparse_mla_out"))));
    const auto sums = get<float>(lse, shape.heads, t * heads);
    EXPECT_TRUE(
        passes(ref::compare("lse", std::span<const float>(sums), std::span<const double>(want.lse),
                            ref::tolerance("sparse_mla_lse"))));
  }
}

}  // namespace daybreak::kernels
