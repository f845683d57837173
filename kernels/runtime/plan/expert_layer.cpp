#include "kernels/runtime/plan/expert_layer.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/runtime/plan/expert_seeds.hpp"
#include "kernels/runtime/plan/seeds.hpp"

namespace daybreak::kernels {
namespace {

constexpr uint64_t kLayerStreams = 64, kFirstStream = 1 << 12;  // beside those of plan/seeds.hpp
constexpr int64_t kFewRows =
    40;  // rows an expert gets on average; more, and products bound the layer

// Weights of deviation near cols^-1/2 keep sums near one.
int exponent_of(int64_t cols) { return -int(std::lround(std::log2(double(cols)) / 2)); }

int64_t at_least(int64_t n, std::initializer_list<int64_t> sizes) {
  for (int64_t s : sizes)
    if (n <= s) return s;
  return n;
}

}  // namespace

moe::Weights<isa::TensorDesc> ExpertMatrix::planes(int64_t count, int64_t first,
                                                   int64_t step) const {
  const auto part = [&](uint16_t binding, Format f, int64_t c) {
    return moe::planes(binding, f, experts, rows, c, count, first, step);
  };
  if (format == WeightFormat::bf16) return {part(values, Format::bf16, cols), {}};
  if (format == WeightFormat::mxfp4)
    return {part(values, Format::e2m1, cols), part(scales, Format::e8m0, cols / moe::kBlock)};
  return {part(values, Format::e4m3, cols), part(scales, Format::f32, moe::groups_of(cols))};
}

std::vector<uint16_t> ExpertMatrix::bindings() const {
  return format == WeightFormat::bf16 ? std::vector{values} : std::vector{values, scales};
}

int64_t ExpertMatrix::bytes() const {
  const int64_t n = rows * cols;
  if (format == WeightFormat::bf16) return 2 * n;
  if (format == WeightFormat::mxfp4) return n / 2 + n / moe::kBlock;
  return n + rows * moe::groups_of(cols) * 4;
}

ExpertLayer::ExpertLayer(const ExpertWorkload& w, const isa::Capabilities& chip,
                         isa::MemoryImage& image, isa::BindingTable& bindings, int64_t number,
                         const uint16_t* x)
    : w_(w),
      chip_(chip),
      image_(image),
      bindings_(bindings),
      prefix_(w.layers > 1 ? "layer" + std::to_string(number) + "/" : ""),
      stream_(kFirstStream + uint64_t(number) * kLayerStreams) {
  most_ = int(chip.cores);
  size_ = size_of(w.tokens * m_.topk <= kFewRows * m_.experts);
  slots_ = at_least(m_.topk, {4, 8, 16});
  padded_experts_ = at_least(m_.experts, {128, 256, 1024});
  blocks_ = std::clamp<int64_t>(moe::ceil_div(w.tokens, moe::kTokens), 1, chip.cores);
  rows_ = moe::row_capacity(w.tokens, m_.topk, m_.experts);
  piece_ = expert_product(w.format, m_.width(),
                          w.format == WeightFormat::bf16 ? moe::Leaves::gated_values
                                                         : moe::Leaves::gated_codes,
                          size_)
               .rows;
  pieces_ = moe::piece_capacity(w.tokens, m_.topk, m_.experts, piece_);
  reserve(x);
  reserve_weights();
  if (w.routing != RoutingSource::computed) give_routing();
}

GemmSize ExpertLayer::size_of(bool few_rows) const {
  if (!chip_.fp8_matrix || !chip_.converting_dma) return GemmSize::small;
  return few_rows ? GemmSize::few_rows : GemmSize::many_rows;
}

uint16_t ExpertLayer::add(const std::string& name, int64_t bytes, isa::Generator generator) {
  const Bytes size(std::max<int64_t>(bytes, 4));
  bindings_.push_back({.name = prefix_ + name,
                       .base = image_.reserve(prefix_ + name, size, std::move(generator)),
                       .bytes = size});
  return uint16_t(bindings_.size() - 1);
}

ExpertMatrix ExpertLayer::weights(const std::string& name, WeightFormat format, int64_t experts,
                                  int64_t rows, int64_t cols) {
  ExpertMatrix m{.format = format, .experts = experts, .rows = rows, .cols = cols};
  const uint64_t stream = ++stream_;
  const int e = exponent_of(cols);
  const int64_t n = experts * rows * cols, groups = experts * rows * moe::groups_of(cols);
  if (format == WeightFormat::mxfp4) {
    m.values = add(name, n / 2, mx_codes(w_.seed, stream, e));
    m.scales = add(name + "_scales", n / moe::kBlock, mx_scales(w_.seed, stream, e));
  } else if (format == WeightFormat::fp8) {
    m.values = add(name, n, mx_as_fp8(w_.seed, stream, e, cols));
    m.scales = add(name + "_scales", groups * 4, mx_as_fp8_scales(w_.seed, stream, e, cols));
  } else {
    m.values = add(name, n * 2, mx_as_bf16(w_.seed, stream, e));
  }
  return m;
}

void ExpertLayer::reserve(const uint16_t* x) {
  const int64_t tokens = w_.tokens, width = m_.width();
  const auto values = [&](const char* name, int64_t count, float deviation) {
    return add(name, count * 2, gaussian_bf16(w_.seed, Stream(++stream_), deviation));
  };
  const auto floats = [&](const char* name, int64_t count, float mean, float deviation) {
    return add(name, count * 4, gaussian_f32(w_.seed, Stream(++stream_), mean, deviation));
  };
  t_.x = x ? *x : values("x", tokens * m_.hidden, 1);
  t_.router = values("router", m_.experts * m_.hidden, 0.015625f);  // logits deviate by about one
  t_.router_bias = floats("router_bias", m_.experts, 0, 0.01f);     // less than scores differ by
  t_.logits = add("logits", tokens * m_.experts * 4);
  t_.experts = add("experts", tokens * slots_ * 4);
  t_.weights = add("weights", tokens * slots_ * 4);
  t_.counts = add("counts", blocks_ * padded_experts_ * 4);
  t_.chosen = t_.experts, t_.chosen_weights = t_.weights, t_.chosen_counts = t_.counts;
  t_.table = add("row_table", rows_ * 4);
  t_.token_numbers = add("token_numbers", tokens * 4);
  std::vector<int32_t> numbers(static_cast<size_t>(tokens));
  std::iota(numbers.begin(), numbers.end(), 0);
  image_.write(bindings_[t_.token_numbers].base, std::as_bytes(std::span(numbers)));
  t_.row_of = add("rows", slots_ * tokens * 4);
  t_.totals = add("totals", padded_experts_ * 4);
  t_.list = add("work_list", pieces_ * 16);
  t_.grid = add("grid", 8);
  t_.codes = add("codes", tokens * m_.hidden);
  t_.scales = add("scales", tokens * moe::groups_of(m_.hidden) * 4);
  t_.latent = m_.latent > 0 ? add("latent", tokens * width * 2) : t_.x;
  t_.width_codes = m_.latent > 0 ? add("latent_codes", tokens * width) : t_.codes;
  t_.width_scales =
      m_.latent > 0 ? add("latent_scales", tokens * moe::groups_of(width) * 4) : t_.scales;
  const int64_t middle_bytes = w_.format == WeightFormat::bf16 ? 2 : 1;
  t_.middle = add("middle", rows_ * m_.inter * middle_bytes);
  t_.middle_scales = add("middle_scales", rows_ * moe::groups_of(m_.inter) * 4);
  t_.outputs = add("outputs", rows_ * width * 2);
  t_.shared_middle = add("shared_middle", tokens * m_.shared_inter * 2);
  t_.shared_middle_scales =
      add("shared_middle_scales", tokens * moe::groups_of(m_.shared_inter) * 4);
  t_.shared_out = add("shared_out", tokens * m_.hidden * 2);
  t_.y = add("y", tokens * m_.hidden * 2);
  t_.combined = m_.latent > 0 ? add("combined", tokens * width * 2) : t_.y;
  t_.normed = add("normed", m_.latent > 0 ? tokens * width * 2 : 0);
  t_.norm_weight = floats("norm_weight", width, 1, 0.1f);
  t_.gate_up_bias = floats("gate_up_bias", m_.biased ? m_.experts * 2 * m_.inter : 1, 0, 0.5f);
  t_.down_bias = floats("down_bias", m_.biased ? m_.experts * width : 1, 0, 0.5f);
}

void ExpertLayer::reserve_weights() {
  t_.gate_up = weights("gate_up", w_.format, m_.experts, 2 * m_.inter, m_.width());
  t_.down = weights("down", w_.format, m_.experts, m_.width(), m_.inter);
  if (m_.shared_inter > 0) {
    t_.shared_gate_up =
        weights("shared_gate_up", m_.shared_format, 1, 2 * m_.shared_inter, m_.hidden);
    t_.shared_down = weights("shared_down", m_.shared_format, 1, m_.hidden, m_.shared_inter);
  }
  if (m_.latent > 0) {
    t_.to_latent = weights("to_latent", WeightFormat::bf16, 1, m_.latent, m_.hidden);
    t_.from_latent = weights("from_latent", WeightFormat::bf16, 1, m_.hidden, m_.latent);
  }
}

// Experts, equal weights and histograms of a routing that the router does not choose.
void ExpertLayer::give_routing() {
  const auto chosen = routing_of(w_);
  std::vector<int32_t> experts(size_t(w_.tokens * slots_), -1),
      counts(size_t(blocks_ * padded_experts_), 0);
  std::vector<float> weights(experts.size(), 0.0f);
  const int64_t share = moe::round_up(moe::ceil_div(w_.tokens, blocks_), moe::kTokens);
  for (int64_t t = 0; t < w_.tokens; ++t)
    for (int64_t i = 0; i < m_.topk; ++i) {
      const int32_t e = chosen[size_t(t * m_.topk + i)];
      experts[size_t(t * slots_ + i)] = e;
      if (e < 0) continue;
      weights[size_t(t * slots_ + i)] = float(m_.scale / double(m_.topk));
      ++counts[size_t(t / share * padded_experts_ + e)];
    }
  const auto give = [&](const char* name, const auto& v) {
    const uint16_t b = add(name, int64_t(v.size()) * 4);
    image_.write(bindings_[b].base, std::as_bytes(std::span(v)));
    return b;
  };
  t_.chosen = give("given_experts", experts);
  t_.chosen_weights = give("given_weights", weights);
  t_.chosen_counts = give("given_counts", counts);
}

std::vector<int64_t> ExpertLayer::rows_of_experts() const {
  std::vector<int64_t> rows(size_t(m_.experts), 0);
  const auto chosen = get<int32_t>(t_.chosen, w_.tokens * slots_);
  for (int32_t e : chosen)
    if (e >= 0) ++rows[size_t(e)];
  return rows;
}

}  // namespace daybreak::kernels
