// The aggregated index table: a token's selected positions become physical rows of the latent
// cache, by one walk of the two-level page table. The stamp keeps the generation the walk saw, and
// gathers refuse a table whose request has moved since. One task = one token. (spec/operators.md
// section 3, step e)
#pragma once
#include "kernels/library/dsa/layouts.hpp"
#include "kernels/tile/rowwise.hpp"

namespace daybreak::kernels {

template <class M> struct IndexTable {
  using Pipeline = Rowwise;
  static constexpr const char* kName = "index_table";
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor positions;      // (tokens, 2048) i32, -1 last
    Tensor page_requests;  // (requests, 4) i32, of the latent cache
    Tensor page_blocks;    // (1, entries) i32
    Tensor rows;           // (tokens, 2048) i32
    Tensor stamps;         // (tokens, 2) i32: generation, request
    int tokens = 0, queries = 1, page_tokens = 64;
  };
  struct Stage {};
  struct Fixed {};
  struct State {};
  struct Result {};
  struct Task {
    Args a;
    int token, trips;
  };

  static DAYBREAK_BOTH int tasks(const Args& a) { return a.tokens; }
  static DAYBREAK_DEVICE Task task(M&, const Args& a, int number) { return {a, number, 1}; }

  static DAYBREAK_DEVICE void compute(M& m, const Task& t, int, Fixed&, Stage&, State&, Result&) {
    m.translate(t.a.rows, t.token, t.a.stamps, t.a.positions, t.a.page_requests, t.a.page_blocks,
                t.token / t.a.queries, dsa::kTopk, t.a.page_tokens);
  }
};

}  // namespace daybreak::kernels
