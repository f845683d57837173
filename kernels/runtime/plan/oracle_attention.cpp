// Checks of the vectors that enter the chain (queries, keys, latents) and of attention.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/runtime/plan/oracle.hpp"
#include "ref/ops/formats.hpp"
#include "ref/ops/norm.hpp"
#include "ref/ops/quantise.hpp"

namespace daybreak::kernels {
namespace {

std::vector<float> through_bf16(const std::vector<double>& x) {
  return ref::bf16_values(ref::nearest_bf16(x));
}

ref::ScaleForm form_of(const Workload& w) {
  return w.power_of_two_scales ? ref::ScaleForm::ue8m0_ceil : ref::ScaleForm::plain;
}

// Codes times scales: what a quantised row means.
void dequantised(std::span<const uint8_t> codes, std::span<const float> scales,
                 std::vector<float>& to) {
  for (size_t i = 0; i < codes.size(); ++i)
    to.push_back(ref::e4m3_value(codes[i]) * scales[i / (codes.size() / scales.size())]);
}

}  // namespace

DecodeOracle::Verdicts DecodeOracle::index_prepare(const ChainTensors& t, const ChainTuning&) {
  const int64_t tile = in_.index_head_tile, heads = w_.index_heads, dim = dsa::kKey;
  const bool fp8 = w_.index_form == CacheForm::fp8;
  const auto weight = in_.get<float>(in_.norm_weight, dim),
             bias = in_.get<float>(in_.norm_bias, dim);
  std::vector<float> got, want, got_weights, want_weights;
  const auto tokens = sampled_tokens();
  // The value of one vector after RoPE, Hadamard and quantisation; returns its scale.
  auto encode = [&](std::span<const float> x, int64_t position, std::vector<float>& to) {
    auto y = std::vector<float>(x.begin(), x.end());
    const auto turned = through_bf16(rotated(x.first(dsa::kRope), position, w_.index_interleaved));
    std::copy(turned.begin(), turned.end(), y.begin());
    if (!fp8) {
      to.insert(to.end(), y.begin(), y.end());
      return 1.0f;
    }
    const auto q = ref::act_quant(through_bf16(ref::hadamard(y, dim)), dim, form_of(w_));
    dequantised(q.codes, q.scales, to);
    return q.scales[0];
  };
  for (int64_t token : tokens) {
    const int64_t seen = w_.visible(token), position = seen - 1;
    if (seen == 0) continue;
    const auto raw =
        ref::bf16_values(in_.get<uint16_t>(in_.index_q_raw, heads * dim, token * tile * dim));
    const auto given = in_.get<float>(in_.head_weights, heads, token * tile);
    const auto mine = in_.get<float>(t.index_weights, heads, token * tile);
    for (int64_t h = 0; h < heads; ++h) {
      const float scale =
          encode(std::span(raw).subspan(size_t(h * dim), size_t(dim)), position, want);
      want_weights.push_back(float(double(given[size_t(h)]) / std::sqrt(double(heads)) * scale /
                                   std::sqrt(double(dim))));
      got_weights.push_back(mine[size_t(h)]);
      const int64_t row = (token * tile + h) * dim;
      if (fp8) {
        // The query's scale left with the weights: take it back out of the reference.
        const std::vector<float> scales{scale};
        dequantised(in_.get<uint8_t>(t.index_q, dim, row), scales, got);
      } else {
        const auto values = ref::bf16_values(in_.get<uint16_t>(t.index_q, dim, row));
        got.insert(got.end(), values.begin(), values.end());
      }
    }
    const auto key = ref::bf16_values(in_.get<uint16_t>(in_.index_k_raw, dim, token * dim));
    encode(through_bf16(ref::layer_norm(key, weight, bias, w_.index_norm_epsilon)), position, want);
    const int64_t slot = in_.get<int32_t>(in_.index_slots, 1, token)[0];
    const int64_t page = slot / w_.index_page, place = slot % w_.index_page;
    if (fp8) {
      const int64_t base = page * w_.index_page * (dim + 4);
      const auto codes = in_.get<uint8_t>(in_.index_cache, dim, base + place * dim);
      const auto scales =
          in_.get<float>(in_.index_cache, 1, (base + w_.index_page * dim) / 4 + place);
      dequantised(codes, scales, got);
    } else {
      const auto values = ref::bf16_values(in_.get<uint16_t>(in_.index_cache, dim, slot * dim));
      got.insert(got.end(), values.begin(), values.end());
    }
  }
  return {ref::compare(named("index queries and keys", tokens.size(), all_new_, "tokens"), got,
                       want, ref::tolerance("requantised")),
          ref::compare("index head weights", got_weights, want_weights,
                       ref::tolerance("elementwise_f32"))};
}

DecodeOracle::Verdicts DecodeOracle::query_prepare(const ChainTensors& t, const ChainTuning&) {
  std::vector<float> got, want;
  const auto tokens = sampled_tokens();
  for (int64_t token : tokens) {
    if (w_.visible(token) == 0) continue;
    const int64_t row = token * in_.padded_heads * dsa::kDim, count = w_.heads * dsa::kDim;
    const auto raw = ref::bf16_values(in_.get<uint16_t>(in_.q_raw, count, row));
    const auto mine = ref::bf16_values(in_.get<uint16_t>(t.q, count, row));
    got.insert(got.end(), mine.begin(), mine.end());
    for (int64_t h = 0; h < w_.heads; ++h) {
      const auto head = std::span(raw).subspan(size_t(h * dsa::kDim), dsa::kDim);
      want.insert(want.end(), head.begin(), head.begin() + dsa::kLatent);
      const auto turned =
          rotated(head.subspan(dsa::kLatent), w_.visible(token) - 1, w_.rope_interleaved);
      const auto rounded = through_bf16(turned);
      want.insert(want.end(), rounded.begin(), rounded.end());
    }
  }
  return {ref::compare(named("attention queries", tokens.size(), all_new_, "tokens"), got, want,
                       ref::tolerance("elementwise_bf16"))};
}

DecodeOracle::Verdicts DecodeOracle::latent_append(const ChainTensors&, const ChainTuning&) {
  const bool fp8 = w_.latent_form == CacheForm::fp8;
  const auto weight = in_.get<float>(in_.latent_weight, dsa::kLatent);
  std::vector<float> got, want;
  const auto tokens = sampled_tokens();
  for (int64_t token : tokens) {
    if (w_.visible(token) == 0) continue;
    const auto raw =
        ref::bf16_values(in_.get<uint16_t>(in_.latent_raw, dsa::kLatent, token * dsa::kLatent));
    const auto normed = through_bf16(ref::rms_norm(raw, weight, w_.rms_epsilon));
    const auto k =
        ref::bf16_values(in_.get<uint16_t>(in_.rope_raw, dsa::kRope, token * dsa::kRope));
    const auto turned = ref::nearest_bf16(rotated(k, w_.visible(token) - 1, w_.rope_interleaved));
    const int64_t slot = in_.get<int32_t>(in_.latent_slots, 1, token)[0];
    std::vector<float> mine(dsa::kDim), theirs(dsa::kDim);
    if (fp8) {
      const auto record = ref::encode_record(normed, turned, form_of(w_));
      ref::decode_record(record.data(), theirs.data());
      const auto bytes =
          in_.get<uint8_t>(in_.latent_cache, dsa::kRecordBytes, slot * dsa::kRecordBytes);
      ref::decode_record(bytes.data(), mine.data());
    } else {
      mine = ref::bf16_values(in_.get<uint16_t>(in_.latent_cache, dsa::kDim, slot * dsa::kDim));
      std::copy(normed.begin(), normed.end(), theirs.begin());
      const auto tail = ref::bf16_values(turned);
      std::copy(tail.begin(), tail.end(), theirs.begin() + dsa::kLatent);
    }
    got.insert(got.end(), mine.begin(), mine.end());
    want.insert(want.end(), theirs.begin(), theirs.end());
  }
  return {ref::compare(named("appended latents", tokens.size(), all_new_, "tokens"), got, want,
                       ref::tolerance("requantised"))};
}

ref::AttentionResult DecodeOracle::reference_attention(const ChainTensors& t, int64_t token,
                                                       std::span<const int32_t> rows, bool sink) {
  const auto q = in_.get<uint16_t>(t.q, w_.heads * dsa::kDim, token * in_.padded_heads * dsa::kDim);
  std::vector<float> sinks;
  if (sink && w_.sinks) sinks = in_.get<float>(in_.sinks, w_.heads);
  const auto source = bytes_of(in_.latent_cache);
  return ref::sparse_mla(
      {.heads = w_.heads, .q = q, .scale = w_.softmax_scale, .sink = sinks},
      {.bytes = source,
       .form = w_.latent_form == CacheForm::fp8 ? ref::RowForm::fp8_record : ref::RowForm::bf16},
      rows);
}

DecodeOracle::Verdicts DecodeOracle::partial_attention(const ChainTensors& t,
                                                       const ChainTuning& tuning) {
  std::vector<float> got, got_lse;
  std::vector<double> want, want_lse;
  const auto tokens = sampled_tokens();
  const int64_t splits = tuning.attention_splits, all_rows = w_.tokens() * in_.padded_heads;
  for (int64_t token : tokens) {
    const int64_t valid = in_.get<int32_t>(t.chosen_count, 1, token)[0];
    const auto table = in_.get<int32_t>(t.rows, valid, token * w_.topk);
    const int64_t steps = (valid + 63) / 64, share = (steps + splits - 1) / splits * 64;
    for (int64_t split = 0; split < splits; ++split) {
      const int64_t first = std::min(split * share, valid), end = std::min(first + share, valid);
      const auto part = std::span(table).subspan(size_t(first), size_t(end - first));
      const auto reference = reference_attention(t, token, part, false);
      const int64_t row = split * all_rows + token * in_.padded_heads;
      const auto mine = in_.get<float>(t.partial_out, w_.heads * dsa::kLatent, row * dsa::kLatent);
      got.insert(got.end(), mine.begin(), mine.end());
      want.insert(want.end(), reference.out.begin(), reference.out.end());
      for (float lse : in_.get<float>(t.partial_lse, w_.heads, row))
        got_lse.push_back(lse <= -1e30f ? std::numeric_limits<float>::infinity() : lse);
      want_lse.insert(want_lse.end(), reference.lse.begin(), reference.lse.end());
    }
  }
  return {ref::compare(named("split attention outputs", tokens.size(), all_new_, "tokens"), got,
                       want, ref::tolerance("sparse_mla_few_keys_out")),
          ref::compare("split attention log-sum-exp", got_lse, want_lse,
                       ref::tolerance("sparse_mla_lse"))};
}

DecodeOracle::Verdicts DecodeOracle::attention(const ChainTensors& t, const ChainTuning&) {
  std::vector<float> got, got_lse;
  std::vector<double> want, want_lse;
  const auto tokens = sampled_tokens();
  // The published limit is for means of a full selection; the BF16 rounding of a few weights shows more.
  bool full = true;
  for (int64_t token : tokens) {
    const int64_t valid = in_.get<int32_t>(t.chosen_count, 1, token)[0];
    full = full && valid == w_.topk;
    const auto reference =
        reference_attention(t, token, in_.get<int32_t>(t.rows, valid, token * w_.topk), true);
    const int64_t row = token * in_.padded_heads;
    const auto mine =
        ref::bf16_values(in_.get<uint16_t>(t.out, w_.heads * dsa::kLatent, row * dsa::kLatent));
    const auto lse = in_.get<float>(t.lse, w_.heads, row);
    got.insert(got.end(), mine.begin(), mine.end());
    got_lse.insert(got_lse.end(), lse.begin(), lse.end());
    want.insert(want.end(), reference.out.begin(), reference.out.end());
    want_lse.insert(want_lse.end(), reference.lse.begin(), reference.lse.end());
  }
  return {
      ref::compare(named("attention outputs", tokens.size(), all_new_, "tokens"), got, want,
                   ref::tolerance(full ? "sparse_mla_out" : "sparse_mla_few_keys_out")),
      ref::compare("attention log-sum-exp", got_lse, want_lse, ref::tolerance("sparse_mla_lse"))};
}

}  // namespace daybreak::kernels
