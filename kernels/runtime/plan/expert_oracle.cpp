#include "kernels/runtime/plan/expert_oracle.hpp"

#include <algorithm>
#include <map>

#include "ref/ops/formats.hpp"
#include "ref/ops/norm.hpp"
#include "ref/ops/router.hpp"

namespace daybreak::kernels {
namespace {

// A weight matrix of one expert as the reference reads it; `values` and `scales` outlive it.
ref::WeightMatrix matrix_of(const ExpertMatrix& m, int64_t expert, const ref::ByteSource& values,
                            const ref::ByteSource& scales) {
  ref::WeightMatrix w{.rows = m.rows, .cols = m.cols, .values = &values, .scales = &scales};
  const uint64_t n = uint64_t(m.rows) * uint64_t(m.cols), e = uint64_t(expert);
  switch (m.format) {
    case WeightFormat::mxfp4:
      w.form = ref::WeightForm::mxfp4;
      w.values_at = e * n / 2, w.scales_at = e * n / 32;
      break;
    case WeightFormat::fp8:
      w.form = ref::WeightForm::fp8;
      w.values_at = e * n, w.scales_at = e * uint64_t(m.rows) * uint64_t((m.cols + 127) / 128) * 4;
      break;
    case WeightFormat::bf16: w.form = ref::WeightForm::bf16; w.values_at = e * n * 2;
  }
  return w;
}

float bf16_rounded(double x) { return ref::bf16_value(ref::nearest_bf16(float(x))); }

}  // namespace

ExpertOracle::ExpertOracle(const ExpertLayer& layer, int64_t sample)
    : layer_(layer), w_(layer.workload()), m_(w_.model), t_(layer.tensors()) {
  const int64_t n = std::min(w_.tokens, sample);
  for (int64_t i = 0; i < n; ++i) sample_.push_back(n < 2 ? 0 : i * (w_.tokens - 1) / (n - 1));
}

std::string ExpertOracle::named(const std::string& what) const {
  if (int64_t(sample_.size()) == w_.tokens) return what;
  return what + " (" + std::to_string(sample_.size()) + " of " + std::to_string(w_.tokens) +
         " tokens)";
}

ref::ByteSource ExpertOracle::bytes_of(uint16_t binding) const {
  const auto& b = layer_.bindings()[binding];
  return ref::ByteSource(
      uint64_t(b.bytes.value), [this, base = b.base](uint64_t at, std::span<uint8_t> to) {
        layer_.image().read(Address(base.value + at), std::as_writable_bytes(to));
      });
}

std::vector<float> ExpertOracle::bf16_rows(uint16_t binding, int64_t cols) const {
  std::vector<float> out;
  for (int64_t t : sample_) {
    const auto row = ref::bf16_values(layer_.get<uint16_t>(binding, cols, t * cols));
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

ref::ScaleForm ExpertOracle::activation_scales() const {
  return m_.scale_ue8m0 ? ref::ScaleForm::ue8m0_ceil : ref::ScaleForm::plain;
}

ExpertOracle::Verdicts ExpertOracle::quantised(uint16_t x, uint16_t codes, uint16_t scales,
                                               int64_t cols) const {
  const auto want = ref::act_quant(bf16_rows(x, cols), cols, activation_scales());
  std::vector<uint8_t> got;
  std::vector<float> got_scales;
  const int64_t groups = moe::groups_of(cols);
  for (int64_t t : sample_) {
    const auto row = layer_.get<uint8_t>(codes, cols, t * cols);
    const auto s = layer_.get<float>(scales, groups, t * groups);
    got.insert(got.end(), row.begin(), row.end());
    got_scales.insert(got_scales.end(), s.begin(), s.end());
  }
  return {ref::compare_exact(named("activation codes"), got, want.codes),
          ref::compare(named("activation scales"), std::span<const float>(got_scales),
                       std::span<const float>(want.scales), ref::tolerance("exact"))};
}

ExpertOracle::Verdicts ExpertOracle::logits() const {
  const auto w = ref::bf16_values(layer_.get<uint16_t>(t_.router, m_.experts * m_.hidden));
  std::vector<float> bias;
  if (m_.biased) bias = layer_.get<float>(t_.router_bias, m_.experts);
  const auto want = ref::router_logits(bf16_rows(t_.x, m_.hidden), w, m_.hidden, bias);
  std::vector<float> got;
  for (int64_t t : sample_) {
    const auto row = layer_.get<float>(t_.logits, m_.experts, t * m_.experts);
    got.insert(got.end(), row.begin(), row.end());
  }
  return {ref::compare(named("router logits"), std::span<const float>(got),
                       std::span<const double>(want), ref::tolerance("elementwise_f32"))};
}

// The choice is exact on the logits that the chip has; all tokens are checked.
ExpertOracle::Verdicts ExpertOracle::selected() const {
  if (layer_.bindings()[t_.experts].phantom)
    return {};  // another routing is given, and this one steers nothing
  const auto bias = layer_.get<float>(t_.router_bias, m_.experts);
  const auto want =
      ref::route(layer_.get<float>(t_.logits, w_.tokens * m_.experts),
                 {.form = m_.softmax ? ref::RouterForm::softmax : ref::RouterForm::sigmoid,
                  .experts = m_.experts,
                  .topk = m_.topk,
                  .groups = m_.groups,
                  .keep = m_.keep,
                  .normalise = m_.normalise,
                  .scale = m_.scale,
                  .bias = bias});
  const auto experts = layer_.get<int32_t>(t_.experts, w_.tokens * layer_.slots());
  const auto weights = layer_.get<float>(t_.weights, w_.tokens * layer_.slots());
  std::vector<int32_t> got;
  std::vector<float> got_weights;
  for (int64_t t = 0; t < w_.tokens; ++t)
    for (int64_t i = 0; i < m_.topk; ++i) {
      const size_t at = size_t(t * layer_.slots() + i);
      got.push_back(experts[at]);
      got_weights.push_back(experts[at] < 0 ? 0 : weights[at]);
    }
  Verdicts out{ref::compare_exact("chosen experts", got, want.experts)};
  if (!layer_.bindings()[t_.weights].phantom)  // they steer nothing
    out.push_back(ref::compare("expert weights", std::span<const float>(got_weights),
                               std::span<const double>(want.weights),
                               ref::tolerance("elementwise_f32")));
  return out;
}

// Every (token, expert) has a row of its own; rows of an expert are contiguous, in token order, from a
// multiple of 16 on; all else is padding.
ExpertOracle::Verdicts ExpertOracle::placed() const {
  const int64_t slots = layer_.slots();
  const auto chosen = layer_.get<int32_t>(t_.chosen, w_.tokens * slots);
  std::map<int32_t, std::vector<int32_t>> tokens;
  for (size_t i = 0; i < chosen.size(); ++i)
    if (chosen[i] >= 0 && int64_t(i) % slots < m_.topk)
      tokens[chosen[i]].push_back(int32_t(int64_t(i) / slots));
  std::vector<int32_t> table(size_t(layer_.rows()), -1), rows(size_t(m_.topk * w_.tokens), -1);
  int64_t start = 0;
  for (const auto& [expert, list] : tokens) {
    for (size_t i = 0; i < list.size(); ++i) {
      table[size_t(start) + i] = list[i];
      for (int64_t slot = 0; slot < m_.topk; ++slot)
        if (chosen[size_t(list[i] * slots + slot)] == expert)
          rows[size_t(slot * w_.tokens + list[i])] = int32_t(start + int64_t(i));
    }
    start += moe::round_up(int64_t(list.size()), moe::kRowAlign);
  }
  return {ref::compare_exact("row table", layer_.get<int32_t>(t_.table, layer_.rows()), table),
          ref::compare_exact("rows of tokens", layer_.get<int32_t>(t_.row_of, m_.topk * w_.tokens),
                             rows)};
}

ExpertOracle::Verdicts ExpertOracle::product(const std::string& name, uint16_t x,
                                             const ExpertMatrix& w, uint16_t out,
                                             uint16_t addend) const {
  const auto values = bytes_of(w.values), scales = bytes_of(w.scales);
  auto want = ref::weight_product(bf16_rows(x, w.cols), matrix_of(w, 0, values, scales), 0, 1,
                                  w.rows, activation_scales());
  if (addend > 0) {
    const auto more = bf16_rows(addend, w.rows);
    for (size_t i = 0; i < want.size(); ++i) want[i] += more[i];
  }
  for (float& v : want) v = bf16_rounded(v);
  return {ref::compare(named(name), std::span<const float>(bf16_rows(out, w.rows)),
                       std::span<const float>(want), ref::tolerance("moe"))};
}

ExpertOracle::Verdicts ExpertOracle::shared() const {
  const auto up = bytes_of(t_.shared_gate_up.values), down = bytes_of(t_.shared_down.values);
  const auto up_scales = bytes_of(t_.shared_gate_up.scales);
  const auto down_scales = bytes_of(t_.shared_down.scales);
  const auto want = ref::expert_output(bf16_rows(t_.x, m_.hidden),
                                       {.gate_up = matrix_of(t_.shared_gate_up, 0, up, up_scales),
                                        .down = matrix_of(t_.shared_down, 0, down, down_scales),
                                        .activation = ref::ExpertActivation(int(m_.gate)),
                                        .factor = m_.factor,
                                        .limit = m_.limit,
                                        .activation_scales = activation_scales()});
  return {ref::compare(named("shared experts"),
                       std::span<const float>(bf16_rows(t_.shared_out, m_.hidden)),
                       std::span<const float>(want), ref::tolerance("moe"))};
}

std::vector<double> ExpertOracle::routed(int64_t width) const {
  const int64_t slots = layer_.slots();
  struct Use {
    size_t at;  // in the sample
    float weight;
  };
  std::map<int32_t, std::vector<Use>> uses;  // ascending: the order of the sums
  for (size_t s = 0; s < sample_.size(); ++s) {
    const auto experts = layer_.get<int32_t>(t_.chosen, slots, sample_[s] * slots);
    const auto weights = layer_.get<float>(t_.chosen_weights, slots, sample_[s] * slots);
    for (int64_t i = 0; i < m_.topk; ++i)
      if (experts[size_t(i)] >= 0) uses[experts[size_t(i)]].push_back({s, weights[size_t(i)]});
  }
  const auto x = bf16_rows(t_.latent, width);
  const auto gate_up = bytes_of(t_.gate_up.values), down = bytes_of(t_.down.values);
  const auto gate_up_scales = bytes_of(t_.gate_up.scales), down_scales = bytes_of(t_.down.scales);
  std::vector<double> out(sample_.size() * size_t(width), 0.0);
  for (const auto& [expert, list] : uses) {
    std::vector<float> rows, up_bias, down_bias;
    for (const Use& u : list)
      rows.insert(rows.end(), x.begin() + long(u.at) * width, x.begin() + long(u.at + 1) * width);
    if (m_.biased) {
      up_bias = layer_.get<float>(t_.gate_up_bias, 2 * m_.inter, expert * 2 * m_.inter);
      down_bias = layer_.get<float>(t_.down_bias, width, expert * width);
    }
    const auto y =
        ref::expert_output(rows, {.gate_up = matrix_of(t_.gate_up, expert, gate_up, gate_up_scales),
                                  .down = matrix_of(t_.down, expert, down, down_scales),
                                  .interleaved = m_.interleaved,
                                  .gate_up_bias = up_bias,
                                  .down_bias = down_bias,
                                  .activation = ref::ExpertActivation(int(m_.gate)),
                                  .factor = m_.factor,
                                  .limit = m_.limit,
                                  .activation_scales = activation_scales()});
    for (size_t i = 0; i < list.size(); ++i)
      for (int64_t c = 0; c < width; ++c)
        out[list[i].at * size_t(width) + size_t(c)] +=
            double(list[i].weight) * double(y[i * size_t(width) + size_t(c)]);
  }
  return out;
}

ExpertOracle::Verdicts ExpertOracle::combined() const {
  const int64_t width = m_.width();
  auto sums = routed(width);
  if (m_.shared_inter > 0 && w_.shared && m_.latent == 0) {
    const auto more = bf16_rows(t_.shared_out, width);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += double(more[i]);
  }
  std::vector<float> want;
  for (double v : sums) want.push_back(bf16_rounded(v));
  return {ref::compare(named("routed experts"),
                       std::span<const float>(bf16_rows(t_.combined, width)),
                       std::span<const float>(want), ref::tolerance("moe"))};
}

ExpertOracle::Verdicts ExpertOracle::normed() const {
  const int64_t width = m_.width();
  const auto weight = layer_.get<float>(t_.norm_weight, width);
  std::vector<float> want;
  for (double v : ref::rms_norm(bf16_rows(t_.combined, width), weight, m_.rms_epsilon))
    want.push_back(bf16_rounded(v));
  return {ref::compare(named("normalised latents"),
                       std::span<const float>(bf16_rows(t_.normed, width)),
                       std::span<const float>(want), ref::tolerance("elementwise_bf16"))};
}

}  // namespace daybreak::kernels
