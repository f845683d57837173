#include "kernels/library/moe/expert_combine.hpp"
#include "kernels/library/moe/norm_rows.hpp"
#include "kernels/library/moe/quantise_rows.hpp"
#include "kernels/library/moe/route_place.hpp"
#include "kernels/library/moe/route_select.hpp"
#include "kernels/runtime/plan/expert_layer.hpp"
#include "kernels/runtime/plan/expert_oracle.hpp"

namespace daybreak::kernels {
namespace {

using moe::matrix;

constexpr int64_t kFewDenseRows = 64;  // fewer rows: weights bound a dense product

const std::vector<Tuning> kRows{{.ring = 2, .boards = 1}, {.ring = 1, .boards = 1}};

// Binds the variant of a routing kernel for the padded numbers of experts and slots.
template <template <int, int> class K, class Args>
void bind_routing(Step& step, int64_t experts, int64_t slots, const Args& a) {
  const auto with = [&]<int kExperts, int kSlots>() {
    using On = K<kExperts, kSlots>;
    bind<On::template On>(step, kRows, a.template to<typename On::template On<Record>::Args>());
  };
  const auto slots_of = [&]<int kExperts>() {
    if (slots <= 4) return with.template operator()<kExperts, 4>();
    if (slots <= 8) return with.template operator()<kExperts, 8>();
    with.template operator()<kExperts, 16>();
  };
  if (experts <= 128) return slots_of.template operator()<128>();
  if (experts <= 256) return slots_of.template operator()<256>();
  slots_of.template operator()<1024>();
}

// Arguments of any variant, member by member.
struct SelectArgs {
  isa::TensorDesc logits, bias, experts, weights, counts, table;
  int tokens, blocks, count, topk, groups, keep, capacity;
  bool softmax, normalise;
  float scale;
  template <class A> A to() const {
    return {logits, bias, experts, weights, counts,   table,   tokens,    blocks,
            count,  topk, groups,  keep,    capacity, softmax, normalise, scale};
  }
};
struct PlaceArgs {
  isa::TensorDesc experts, counts, token_numbers, table, table_rows, rows, totals, list, grid;
  int tokens, blocks, topk, capacity, piece, parts, most;
  template <class A> A to() const {
    return {experts, counts, token_numbers, table, table_rows, rows,  totals, list,
            grid,    tokens, blocks,        topk,  capacity,   piece, parts,  most};
  }
};

int64_t parts_of(const ExpertModel& m) {
  return std::max<int64_t>(1, moe::ceil_div(std::min(m.inter, m.width()), moe::kGroup));
}

}  // namespace

void ExpertLayer::add_to(Plan& plan) {
  const bool fp8_shared = m_.shared_inter > 0 && m_.shared_format == WeightFormat::fp8 && w_.shared;
  const bool fp8_routed = w_.format != WeightFormat::bf16;
  if (fp8_shared || (fp8_routed && m_.latent == 0))
    quantise(plan, t_.x, t_.codes, t_.scales, m_.hidden);
  if (m_.latent > 0) {
    dense(plan, "to_latent", t_.x, t_.to_latent, moe::Leaves::values, t_.latent, Format::bf16);
    if (fp8_routed) quantise(plan, t_.latent, t_.width_codes, t_.width_scales, m_.latent);
  }
  route(plan);
  place(plan);
  routed_experts(plan);
  if (m_.shared_inter > 0 && w_.shared) shared_experts(plan);
  combine(plan);
}

void ExpertLayer::quantise(Plan& plan, uint16_t x, uint16_t codes, uint16_t scales, int64_t cols) {
  Step step{.reads = {x}, .writes = {codes, scales}, .floor = {.bytes = w_.tokens * cols * 3}};
  bind<QuantiseRows>(step, kRows,
                     {.x = matrix(x, Format::bf16, w_.tokens, cols),
                      .codes = matrix(codes, Format::e4m3, w_.tokens, cols),
                      .scales = matrix(scales, Format::f32, w_.tokens, moe::groups_of(cols)),
                      .rows = int(w_.tokens),
                      .cols = int(cols),
                      .power_of_two = m_.scale_ue8m0});
  step.check = [this, x, codes, scales, cols] {
    return ExpertOracle(*this).quantised(x, codes, scales, cols);
  };
  plan.add(std::move(step));
}

void ExpertLayer::route(Plan& plan) {
  const ExpertMatrix router{.format = WeightFormat::bf16,
                            .experts = 1,
                            .rows = m_.experts,
                            .cols = m_.hidden,
                            .values = t_.router};
  dense(plan, "router", t_.x, router, moe::Leaves::sums, t_.logits, Format::f32);
  Step step{.reads = {t_.logits, t_.router_bias},
            .writes = {t_.experts, t_.weights, t_.counts, t_.table},
            .floor = {.bytes = w_.tokens * (m_.experts + 2 * m_.topk) * 4}};
  bind_routing<RouteSelect>(
      step, padded_experts_, slots_,
      SelectArgs{.logits = matrix(t_.logits, Format::f32, w_.tokens, m_.experts),
                 .bias = matrix(t_.router_bias, Format::f32, 1, m_.experts),
                 .experts = matrix(t_.experts, Format::i32, w_.tokens, slots_),
                 .weights = matrix(t_.weights, Format::f32, w_.tokens, slots_),
                 .counts = matrix(t_.counts, Format::i32, blocks_, padded_experts_),
                 .table = matrix(t_.table, Format::i32, 1, rows_),
                 .tokens = int(w_.tokens),
                 .blocks = int(blocks_),
                 .count = int(m_.experts),
                 .topk = int(m_.topk),
                 .groups = int(m_.groups),
                 .keep = int(m_.keep),
                 .capacity = int(rows_),
                 .softmax = m_.softmax,
                 .normalise = m_.normalise,
                 .scale = float(m_.scale)});
  step.check = [this] { return ExpertOracle(*this).selected(); };
  plan.add(std::move(step));
}

void ExpertLayer::place(Plan& plan) {
  Step step{.reads = {t_.chosen, t_.chosen_counts, t_.token_numbers, t_.table},
            .writes = {t_.table, t_.row_of, t_.totals, t_.list, t_.grid},
            .steers = {t_.row_of},
            .floor = {.bytes = w_.tokens * m_.topk * 12}};
  bind_routing<RoutePlace>(
      step, padded_experts_, slots_,
      PlaceArgs{.experts = matrix(t_.chosen, Format::i32, w_.tokens, slots_),
                .counts = matrix(t_.chosen_counts, Format::i32, blocks_, padded_experts_),
                .token_numbers = matrix(t_.token_numbers, Format::i32, w_.tokens, 1),
                .table = matrix(t_.table, Format::i32, 1, rows_),
                .table_rows = matrix(t_.table, Format::i32, rows_, 1),
                .rows = matrix(t_.row_of, Format::i32, slots_, w_.tokens),
                .totals = matrix(t_.totals, Format::i32, 1, padded_experts_),
                .list = matrix(t_.list, Format::i32, pieces_, 4),
                .grid = matrix(t_.grid, Format::i32, 1, 2),
                .tokens = int(w_.tokens),
                .blocks = int(blocks_),
                .topk = int(m_.topk),
                .capacity = int(pieces_),
                .piece = piece_,
                .parts = int(parts_of(m_)),
                .most = most_});
  step.check = [this] { return ExpertOracle(*this).placed(); };
  plan.add(std::move(step));
}

void ExpertLayer::gated(GemmArgs& a) const {
  a.gating = isa::Gating(int(m_.gate));
  a.factor = float(m_.factor), a.limit = float(m_.limit);
  a.power_of_two = m_.scale_ue8m0;
}

void ExpertLayer::grouped(Step& step, GemmArgs& a) const {
  a.list = matrix(t_.list, Format::i32, pieces_, 4);
  a.grid = matrix(t_.grid, Format::i32, 1, 2);
  a.most = most_, a.parts = int(parts_of(m_)), a.biased = m_.biased;
  step.steers.insert(step.steers.end(), {t_.list, t_.grid});
  step.grid = a.grid;
}

Floor ExpertLayer::routed_floor(const ExpertMatrix& w, int64_t left_bytes,
                                int64_t out_bytes) const {
  int64_t hits = 0, rows = 0;
  for (int64_t n : rows_of_experts()) hits += n > 0, rows += n;
  const int64_t macs = rows * w.rows * w.cols;
  const bool fp8 = w.format != WeightFormat::bf16;
  return {.bytes = hits * w.bytes() + rows * (left_bytes + out_bytes),
          .bf16_macs = fp8 ? 0 : macs,
          .fp8_macs = fp8 ? macs : 0};
}

void ExpertLayer::routed_experts(Plan& plan) {
  const bool fp8 = w_.format != WeightFormat::bf16;
  const int64_t width = m_.width(), inter = m_.inter, step_rows = m_.interleaved ? 2 : 1;
  const int64_t up = m_.interleaved ? 1 : inter, byte = fp8 ? 1 : 2;
  const Format left = fp8 ? Format::e4m3 : Format::bf16;
  Step first{.reads = {fp8 ? t_.width_codes : t_.latent, t_.width_scales, t_.gate_up_bias},
             .writes = {t_.middle, t_.middle_scales},
             .steers = {t_.table}};
  GemmArgs a;
  a.x = matrix(fp8 ? t_.width_codes : t_.latent, left, w_.tokens, width);
  a.x_scales = matrix(t_.width_scales, Format::f32, w_.tokens, moe::groups_of(width));
  a.table = matrix(t_.table, Format::i32, 1, rows_);
  a.first = t_.gate_up.planes(inter, 0, step_rows);
  a.second = t_.gate_up.planes(inter, up, step_rows);
  a.first_bias =
      moe::planes(t_.gate_up_bias, Format::f32, m_.experts, 2 * inter, 1, inter, 0, step_rows);
  a.second_bias =
      moe::planes(t_.gate_up_bias, Format::f32, m_.experts, 2 * inter, 1, inter, up, step_rows);
  a.out = matrix(t_.middle, left, rows_, inter);
  a.out_scales = matrix(t_.middle_scales, Format::f32, rows_, moe::groups_of(inter));
  a.k = int(width), a.columns = int(inter), a.gathered = true;
  gated(a), grouped(first, a);
  const auto leaves = fp8 ? moe::Leaves::gated_codes : moe::Leaves::gated_values;
  expert_product(w_.format, width, leaves, size_).bind(first, a);
  first.name = "experts_gate_up";
  for (uint16_t b : t_.gate_up.bindings()) first.reads.push_back(b);
  first.floor_of = [this, byte] { return routed_floor(t_.gate_up, 0, m_.inter * byte); };
  plan.add(std::move(first));

  Step second{.reads = {t_.middle, t_.middle_scales, t_.down_bias}, .writes = {t_.outputs}};
  GemmArgs b;
  b.x = matrix(t_.middle, left, rows_, inter);
  b.x_scales = matrix(t_.middle_scales, Format::f32, rows_, moe::groups_of(inter));
  b.first = t_.down.planes(width);
  b.first_bias = moe::planes(t_.down_bias, Format::f32, m_.experts, width, 1, width);
  b.out = matrix(t_.outputs, Format::bf16, rows_, width);
  b.k = int(inter), b.columns = int(width);
  grouped(second, b);
  expert_product(w_.format, inter, moe::Leaves::values, size_).bind(second, b);
  second.name = "experts_down";
  for (uint16_t d : t_.down.bindings()) second.reads.push_back(d);
  second.floor_of = [this, byte] { return routed_floor(t_.down, m_.inter * byte, m_.width() * 2); };
  plan.add(std::move(second));
}

void ExpertLayer::dense(Plan& plan, const std::string& name, uint16_t x, const ExpertMatrix& w,
                        moe::Leaves leaves, uint16_t out, Format out_format, uint16_t addend) {
  const bool gates = moe::gated(leaves), fp8 = w.format != WeightFormat::bf16;
  const int64_t columns = gates ? w.rows / 2 : w.rows, tokens = w_.tokens;
  const uint16_t scales = x == t_.codes ? t_.scales : t_.shared_middle_scales;
  Step step{.reads = {x, scales}, .writes = {out}};
  GemmArgs a;
  a.x = matrix(x, fp8 ? Format::e4m3 : Format::bf16, tokens, w.cols);
  a.x_scales = matrix(scales, Format::f32, tokens, moe::groups_of(w.cols));
  a.first = w.planes(columns);
  a.second = gates ? w.planes(columns, columns) : a.first;
  a.out = matrix(out, out_format, tokens, columns);
  a.out_scales = matrix(t_.shared_middle_scales, Format::f32, tokens, moe::groups_of(columns));
  a.addend = matrix(addend, Format::bf16, tokens, columns);
  a.added = addend > 0;
  if (a.added) step.reads.push_back(addend);
  if (leaves == moe::Leaves::gated_codes) step.writes.push_back(t_.shared_middle_scales);
  a.rows = int(tokens), a.k = int(w.cols), a.columns = int(columns);
  const GemmChoice product =
      expert_product(w.format, w.cols, leaves, size_of(tokens <= kFewDenseRows));
  a.parts = int(moe::ceil_div(columns, product.columns));
  a.most = int(std::min<int64_t>(most_, moe::ceil_div(tokens, product.rows) * a.parts));
  if (gates) gated(a);
  if (leaves == moe::Leaves::sums && m_.biased) {
    a.biased = true;
    a.first_bias = moe::planes(t_.router_bias, Format::f32, 1, columns, 1, columns);
    step.reads.push_back(t_.router_bias);
  }
  product.bind(step, a);
  step.name = name;
  for (uint16_t b : w.bindings()) step.reads.push_back(b);
  const int64_t macs = tokens * w.rows * w.cols;
  step.floor = {.bytes = w.bytes() + tokens * (w.cols + columns) * 2,
                .bf16_macs = fp8 ? 0 : macs,
                .fp8_macs = fp8 ? macs : 0};
  if (leaves == moe::Leaves::sums) {
    step.check = [this] { return ExpertOracle(*this).logits(); };
  } else if (x == t_.shared_middle) {
    step.check = [this] { return ExpertOracle(*this).shared(); };
  } else if (!gates) {
    step.check = [=, this] { return ExpertOracle(*this).product(name, x, w, out, addend); };
  }
  plan.add(std::move(step));
}

void ExpertLayer::shared_experts(Plan& plan) {
  const bool fp8 = m_.shared_format != WeightFormat::bf16;
  dense(plan, "shared_gate_up", fp8 ? t_.codes : t_.x, t_.shared_gate_up,
        fp8 ? moe::Leaves::gated_codes : moe::Leaves::gated_values, t_.shared_middle,
        fp8 ? Format::e4m3 : Format::bf16);
  dense(plan, "shared_down", t_.shared_middle, t_.shared_down, moe::Leaves::values, t_.shared_out,
        Format::bf16);
}

void ExpertLayer::combine(Plan& plan) {
  const int64_t width = m_.width();
  const bool shared = m_.shared_inter > 0 && w_.shared, latent = m_.latent > 0;
  Step step{.reads = {t_.outputs, t_.chosen_weights},
            .writes = {t_.combined},
            .steers = {t_.row_of},
            .floor = {.bytes = w_.tokens * width * 2 * (m_.topk + (shared ? 2 : 1))}};
  if (shared && !latent) step.reads.push_back(t_.shared_out);
  using Combine = ExpertCombine<Record>;
  Combine::Args a{.outputs = matrix(t_.outputs, Format::bf16, rows_, width),
                  .rows = matrix(t_.row_of, Format::i32, slots_, w_.tokens),
                  .weights = matrix(t_.chosen_weights, Format::f32, w_.tokens, slots_),
                  .shared = matrix(t_.shared_out, Format::bf16, w_.tokens, width),
                  .y = matrix(t_.combined, Format::bf16, w_.tokens, width),
                  .tokens = int(w_.tokens),
                  .cols = int(width),
                  .topk = int(m_.topk),
                  .has_shared = shared && !latent};
  a.blocks = int(std::clamp<int64_t>(moe::ceil_div(w_.tokens, moe::kTokens), 1,
                                     std::max(1, most_ / Combine::slices(a))));
  bind<ExpertCombine>(step, kRows, a);
  step.check = [this] { return ExpertOracle(*this).combined(); };
  plan.add(std::move(step));
  if (!latent) return;
  Step norm{.reads = {t_.combined, t_.norm_weight},
            .writes = {t_.normed},
            .floor = {.bytes = w_.tokens * width * 4}};
  if (width != 3584)
    throw UserError("the norm of latent experts is built for a width of 3584, not " +
                    std::to_string(width));
  bind<NormRowsKernel<3584>::On>(norm, kRows,
                                 {.x = matrix(t_.combined, Format::bf16, w_.tokens, width),
                                  .weight = matrix(t_.norm_weight, Format::f32, 1, width),
                                  .y = matrix(t_.normed, Format::bf16, w_.tokens, width),
                                  .rows = int(w_.tokens),
                                  .epsilon = float(m_.rms_epsilon)});
  norm.check = [this] { return ExpertOracle(*this).normed(); };
  plan.add(std::move(norm));
  dense(plan, "from_latent", t_.normed, t_.from_latent, moe::Leaves::values, t_.y, Format::bf16,
        shared ? t_.shared_out : 0);
}

}  // namespace daybreak::kernels
