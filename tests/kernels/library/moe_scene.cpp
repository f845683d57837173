#include "tests/kernels/library/moe_scene.hpp"

#include <numeric>

#include "ref/ops/formats.hpp"

namespace daybreak::kernels {

namespace {

std::vector<uint8_t> bytes(Random& random, int64_t n, int low, int high) {
  std::vector<uint8_t> v(static_cast<size_t>(n));
  for (auto& b : v) b = uint8_t(low + random.below(high - low + 1));
  return v;
}

}  // namespace

MoeScene::MoeScene(const MoeShape& shape, uint64_t seed) : s(shape) {
  Random random(seed);
  rows = moe::row_capacity(s.tokens, s.topk, s.experts);
  pieces = moe::piece_capacity(s.tokens, s.topk, s.experts, Small::kM);
  const int64_t tokens = s.tokens, e = s.experts, wide = int64_t(s.hidden) * s.inter;
  logits = put("logits", random.normals(tokens * e, 2));
  bias = put("bias", random.normals(e, 0.1f));
  x = put("x", random.bf16s(tokens * s.hidden));
  shared = put("shared", random.bf16s(tokens * s.hidden));
  x_codes = garbage<uint8_t>("x_codes", tokens * s.hidden);
  x_scales = garbage<float>("x_scales", tokens * moe::groups_of(s.hidden));
  gate_up = put("gate_up", bytes(random, e * wide, 0, 255));
  gate_up_scales = put("gate_up_scales", bytes(random, e * wide / 16, 116, 121));
  down = put("down", bytes(random, e * wide / 2, 0, 255));
  down_scales = put("down_scales", bytes(random, e * wide / 32, 116, 121));
  gate_up_bias = put("gate_up_bias", random.normals(e * 2 * s.inter));
  down_bias = put("down_bias", random.normals(e * s.hidden));
  experts = garbage<int32_t>("experts", tokens * kSlots);
  weights = garbage<float>("weights", tokens * kSlots);
  counts = garbage<int32_t>("counts", int64_t(s.blocks) * kExperts);
  table = put("table", std::vector<int32_t>(size_t(rows), 12345678));
  std::vector<int32_t> numbers(static_cast<size_t>(tokens));
  std::iota(numbers.begin(), numbers.end(), 0);
  token_numbers = put("token_numbers", numbers);
  row_of = garbage<int32_t>("row_of", kSlots * tokens);
  totals = garbage<int32_t>("totals", kExperts);
  list = garbage<int32_t>("list", pieces * 4);
  grid = garbage<int32_t>("grid", 2);
  middle = garbage<uint8_t>("middle", rows * s.inter);
  middle_scales = garbage<float>("middle_scales", rows * moe::groups_of(s.inter));
  outputs = garbage<uint16_t>("outputs", rows * s.hidden);
  y = garbage<uint16_t>("y", tokens * s.hidden);
  for (uint16_t id : {gate_up, gate_up_scales, down, down_scales}) sources_.push_back(source(id));
}

ref::Routed MoeScene::routed() const {
  const auto choice_bias = all<float>(bias);
  return ref::route(get<float>(logits, int64_t(s.tokens) * s.experts),
                    {.form = s.softmax ? ref::RouterForm::softmax : ref::RouterForm::sigmoid,
                     .experts = s.experts,
                     .topk = s.topk,
                     .groups = s.groups,
                     .keep = s.keep,
                     .scale = s.scale,
                     .bias = choice_bias});
}

ref::Expert MoeScene::expert(int64_t e) const {
  const auto matrix = [&](int64_t n, int64_t k, size_t at) {
    return ref::WeightMatrix{.form = ref::WeightForm::mxfp4,
                             .rows = n,
                             .cols = k,
                             .values = &sources_[at],
                             .scales = &sources_[at + 1],
                             .values_at = uint64_t(e * n * k / 2),
                             .scales_at = uint64_t(e * n * k / 32)};
  };
  return {.gate_up = matrix(2 * s.inter, s.hidden, 0),
          .down = matrix(s.hidden, s.inter, 2),
          .interleaved = s.interleaved,
          .activation = ref::ExpertActivation(int(s.gating)),
          .factor = s.factor,
          .limit = s.limit};
}

std::vector<float> MoeScene::expected() const {
  const auto chosen = routed();
  const auto inputs = all<uint16_t>(x), extra = all<uint16_t>(shared);
  const auto up_biases = all<float>(gate_up_bias), down_biases = all<float>(down_bias);
  std::vector<float> out;
  for (int64_t t = 0; t < s.tokens; ++t) {
    std::vector<double> sum(static_cast<size_t>(s.hidden), 0.0);
    const auto row =
        ref::bf16_values(std::span(inputs).subspan(size_t(t * s.hidden), size_t(s.hidden)));
    for (int64_t i = 0; i < s.topk; ++i) {
      const int64_t e = chosen.experts[size_t(t * s.topk + i)];
      if (e < 0) continue;
      ref::Expert network = expert(e);
      if (s.biased) {
        network.gate_up_bias =
            std::span(up_biases).subspan(size_t(e * 2 * s.inter), size_t(2 * s.inter));
        network.down_bias = std::span(down_biases).subspan(size_t(e * s.hidden), size_t(s.hidden));
      }
      const auto value = ref::expert_output(row, network);
      for (size_t c = 0; c < value.size(); ++c)
        sum[c] += chosen.weights[size_t(t * s.topk + i)] * double(value[c]);
    }
    for (int64_t c = 0; c < s.hidden; ++c)
      out.push_back(ref::bf16_value(ref::nearest_bf16(
          float(sum[size_t(c)] + double(ref::bf16_value(extra[size_t(t * s.hidden + c)]))))));
  }
  return out;
}

}  // namespace daybreak::kernels
