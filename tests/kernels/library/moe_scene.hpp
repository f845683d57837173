// A small routed expert layer in memory, and what the reference says about it.
#pragma once
#include "kernels/library/moe/expert_combine.hpp"
#include "kernels/library/moe/expert_gemm.hpp"
#include "kernels/library/moe/quantise_rows.hpp"
#include "kernels/library/moe/route_place.hpp"
#include "kernels/library/moe/route_select.hpp"
#include "ref/ops/expert.hpp"
#include "ref/ops/router.hpp"
#include "tests/kernels/library/scene.hpp"

namespace daybreak::kernels {

struct MoeShape {
  int tokens = 5, experts = 9, topk = 3, hidden = 384, inter = 256;
  int blocks = 2, most = 3;  // tasks of routing, of the expert products
  int groups = 1, keep = 1;
  bool softmax = false, interleaved = false, biased = false;
  isa::Gating gating = isa::Gating::silu;
  float factor = 1, limit = 0;
  float scale = 1;
};

struct MoeScene : Scene {
  static constexpr int kExperts = 128, kSlots = 4;
  using Small = GemmShape<32, 16, 256>;
  template <class M> using Select = RouteSelectOf<M, kExperts, kSlots>;
  template <class M> using Place = RoutePlaceOf<M, kExperts, kSlots>;
  template <class M> using GateUp = ExpertGemmOf<M, Small, moe::Mxfp4, moe::Leaves::gated_codes>;
  template <class M> using Down = ExpertGemmOf<M, Small, moe::Mxfp4, moe::Leaves::values>;

  MoeScene(const MoeShape& shape, uint64_t seed);

  MoeShape s;
  int64_t rows, pieces;  // capacities
  uint16_t logits, bias, x, x_codes, x_scales, shared;
  uint16_t gate_up, gate_up_scales, down, down_scales, gate_up_bias, down_bias;
  uint16_t experts, weights, counts, table, token_numbers, row_of, totals, list, grid;
  uint16_t middle, middle_scales, outputs, y;

  template <class Args> void select(Args& a) const;
  template <class Args> void place(Args& a) const;
  template <class Args> void quantise(Args& a) const;
  template <class Args> void gate_up_args(Args& a) const;
  template <class Args> void down_args(Args& a) const;
  template <class Args> void combine(Args& a) const;

  ref::Routed routed() const;
  ref::Expert expert(int64_t e) const;
  std::vector<float> expected() const;  // y

 private:
  mutable std::vector<ref::ByteSource> sources_;
};

template <class Args> void MoeScene::select(Args& a) const {
  a.logits = moe::matrix(logits, Format::f32, s.tokens, s.experts);
  a.bias = moe::matrix(bias, Format::f32, 1, s.experts);
  a.experts = moe::matrix(experts, Format::i32, s.tokens, kSlots);
  a.weights = moe::matrix(weights, Format::f32, s.tokens, kSlots);
  a.counts = moe::matrix(counts, Format::i32, s.blocks, kExperts);
  a.table = moe::matrix(table, Format::i32, 1, rows);
  a.tokens = s.tokens, a.blocks = s.blocks, a.count = s.experts, a.topk = s.topk;
  a.groups = s.groups, a.keep = s.keep, a.capacity = int(rows);
  a.softmax = s.softmax, a.scale = s.scale;
}
template <class Args> void MoeScene::place(Args& a) const {
  a.experts = moe::matrix(experts, Format::i32, s.tokens, kSlots);
  a.counts = moe::matrix(counts, Format::i32, s.blocks, kExperts);
  a.token_numbers = moe::matrix(token_numbers, Format::i32, s.tokens, 1);
  a.table = moe::matrix(table, Format::i32, 1, rows);
  a.table_rows = moe::matrix(table, Format::i32, rows, 1);
  a.rows = moe::matrix(row_of, Format::i32, kSlots, s.tokens);
  a.totals = moe::matrix(totals, Format::i32, 1, kExperts);
  a.list = moe::matrix(list, Format::i32, pieces, 4);
  a.grid = moe::matrix(grid, Format::i32, 1, 2);
  a.tokens = s.tokens, a.blocks = s.blocks, a.topk = s.topk, a.capacity = int(pieces);
  a.piece = Small::kM, a.parts = 2, a.most = s.most;
}
template <class Args> void MoeScene::quantise(Args& a) const {
  a.x = moe::matrix(x, Format::bf16, s.tokens, s.hidden);
  a.codes = moe::matrix(x_codes, Format::e4m3, s.tokens, s.hidden);
  a.scales = moe::matrix(x_scales, Format::f32, s.tokens, moe::groups_of(s.hidden));
  a.rows = s.tokens, a.cols = s.hidden;
}
template <class Args> void MoeScene::gate_up_args(Args& a) const {
  const int step = s.interleaved ? 2 : 1, up = s.interleaved ? 1 : s.inter;
  const auto matrix = [&](uint16_t binding, Format f, int64_t cols, int first) {
    return moe::planes(binding, f, s.experts, 2 * s.inter, cols, s.inter, first, step);
  };
  a.x = moe::matrix(x_codes, Format::e4m3, s.tokens, s.hidden);
  a.x_scales = moe::matrix(x_scales, Format::f32, s.tokens, moe::groups_of(s.hidden));
  a.table = moe::matrix(table, Format::i32, 1, rows);
  a.first = {matrix(gate_up, Format::e2m1, s.hidden, 0),
             matrix(gate_up_scales, Format::e8m0, s.hidden / 32, 0)};
  a.second = {matrix(gate_up, Format::e2m1, s.hidden, up),
              matrix(gate_up_scales, Format::e8m0, s.hidden / 32, up)};
  a.first_bias = matrix(gate_up_bias, Format::f32, 1, 0);
  a.second_bias = matrix(gate_up_bias, Format::f32, 1, up);
  a.out = moe::matrix(middle, Format::e4m3, rows, s.inter);
  a.out_scales = moe::matrix(middle_scales, Format::f32, rows, moe::groups_of(s.inter));
  a.list = moe::matrix(list, Format::i32, pieces, 4);
  a.grid = moe::matrix(grid, Format::i32, 1, 2);
  a.k = s.hidden, a.columns = s.inter, a.most = s.most, a.parts = 2;
  a.gathered = true, a.biased = s.biased;
  a.gating = s.gating, a.factor = s.factor, a.limit = s.limit;
}
template <class Args> void MoeScene::down_args(Args& a) const {
  a.x = moe::matrix(middle, Format::e4m3, rows, s.inter);
  a.x_scales = moe::matrix(middle_scales, Format::f32, rows, moe::groups_of(s.inter));
  a.first = {moe::planes(down, Format::e2m1, s.experts, s.hidden, s.inter, s.hidden),
             moe::planes(down_scales, Format::e8m0, s.experts, s.hidden, s.inter / 32, s.hidden)};
  a.first_bias = moe::planes(down_bias, Format::f32, s.experts, s.hidden, 1, s.hidden);
  a.out = moe::matrix(outputs, Format::bf16, rows, s.hidden);
  a.list = moe::matrix(list, Format::i32, pieces, 4);
  a.grid = moe::matrix(grid, Format::i32, 1, 2);
  a.k = s.inter, a.columns = s.hidden, a.most = s.most, a.parts = 2;
  a.biased = s.biased;
}
template <class Args> void MoeScene::combine(Args& a) const {
  a.outputs = moe::matrix(outputs, Format::bf16, rows, s.hidden);
  a.rows = moe::matrix(row_of, Format::i32, kSlots, s.tokens);
  a.weights = moe::matrix(weights, Format::f32, s.tokens, kSlots);
  a.shared = moe::matrix(shared, Format::bf16, s.tokens, s.hidden);
  a.y = moe::matrix(y, Format::bf16, s.tokens, s.hidden);
  a.tokens = s.tokens, a.cols = s.hidden, a.topk = s.topk, a.has_shared = true;
}

}  // namespace daybreak::kernels
