// Instantiates expert products of one weight format; included by expert_steps_*.cpp only.
#pragma once
#include "kernels/runtime/plan/expert_steps.hpp"

namespace daybreak::kernels {

// Args of two instantiations have the same members: copies one into the other.
template <class To> To gemm_args(const GemmArgs& a) {
  return {.x = a.x,
          .x_scales = a.x_scales,
          .table = a.table,
          .first = a.first,
          .second = a.second,
          .first_bias = a.first_bias,
          .second_bias = a.second_bias,
          .out = a.out,
          .out_scales = a.out_scales,
          .addend = a.addend,
          .list = a.list,
          .grid = a.grid,
          .rows = a.rows,
          .k = a.k,
          .columns = a.columns,
          .most = a.most,
          .parts = a.parts,
          .gathered = a.gathered,
          .biased = a.biased,
          .added = a.added,
          .power_of_two = a.power_of_two,
          .gating = a.gating,
          .factor = a.factor,
          .limit = a.limit};
}

template <class Shape, class Form, moe::Leaves kLeaves> GemmChoice choice() {
  return {.rows = Shape::kM, .columns = Shape::kColumns, .bind = [](Step& step, const GemmArgs& a) {
            using K = ExpertGemm<Shape, Form, kLeaves>;
            // Two left tiles and accumulators where they fit, and as many slots as do.
            const std::vector<Tuning> tunings{{.ring = 3, .boards = 2, .left = 2},
                                              {.ring = 3, .boards = 2, .left = 1},
                                              {.ring = 2, .boards = 2, .left = 1},
                                              {.ring = 2, .boards = 1, .left = 1},
                                              {.ring = 1, .boards = 1, .left = 1}};
            bind<K::template On>(step, tunings,
                                 gemm_args<typename K::template On<Record>::Args>(a));
          }};
}

// Slots of whole rows, 64 to 112 KB: the smallest that holds k.
template <class Form, moe::Leaves kLeaves> GemmChoice whole_rows(int64_t k) {
  if (k <= 2048) return choice<GemmShape<32, 32, 2048>, Form, kLeaves>();
  if (k <= 3072) return choice<GemmShape<32, 32, 3072>, Form, kLeaves>();
  if (k <= 3584) return choice<GemmShape<32, 32, 3584>, Form, kLeaves>();
  if (k <= 7168) return choice<GemmShape<32, 16, 7168>, Form, kLeaves>();
  return choice<GemmShape<32, 32, 1024>, Form, kLeaves>();
}

template <class Form, moe::Leaves kLeaves> GemmChoice of_size(int64_t k, GemmSize size) {
  switch (size) {
    case GemmSize::few_rows: return whole_rows<Form, kLeaves>(k);
    case GemmSize::many_rows: return choice<GemmShape<128, 64, 1024>, Form, kLeaves>();
    case GemmSize::small: break;
  }
  return choice<GemmShape<32, 32, 1024>, Form, kLeaves>();
}

template <class Form> GemmChoice scaled_product(int64_t k, moe::Leaves leaves, GemmSize size) {
  using moe::Leaves;
  if (leaves == Leaves::gated_codes) return of_size<Form, Leaves::gated_codes>(k, size);
  if (leaves == Leaves::values) return of_size<Form, Leaves::values>(k, size);
  throw InvariantError("FP8 products leave codes or values");
}

}  // namespace daybreak::kernels
