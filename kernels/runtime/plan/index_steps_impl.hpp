// Instantiates the index kernels of one form and head tile; included by index_steps_*.cpp only.
#pragma once
#include "kernels/runtime/plan/index_steps.hpp"

namespace daybreak::kernels {

// Args of two instantiations have the same members: copies one into the other.
template <class To, class From> To index_inputs(const From& a) {
  To to;
  to.q = a.q, to.weights = a.weights, to.keys = a.keys, to.key_scales = a.key_scales;
  to.page_requests = a.page_requests, to.page_blocks = a.page_blocks, to.contexts = a.contexts;
  to.requests = a.requests, to.queries = a.queries, to.splits = a.splits;
  return to;
}

template <int kHeads, int kQueries, class Form> IndexSteps index_steps_of() {
  return {.prepare =
              [](Step& step, const std::vector<Tuning>& tuning,
                 const IndexerPrepareOf<Record, 64, dsa::Fp8>::Args& a) {
                using K = IndexerPrepare<kHeads, Form>;
                typename K::template On<Record>::Args args{
                    a.q_raw,       a.k_raw,           a.head_weights, a.norm_weight, a.norm_bias,
                    a.angles,      a.token_positions, a.slots,        a.q,           a.weights,
                    a.keys,        a.key_scales,      a.tokens,       a.model_heads, a.epsilon,
                    a.interleaved, a.power_of_two};
                bind<K::template On>(step, tuning, args);
              },
          .score =
              [](Step& step, const std::vector<Tuning>& tuning, const IndexerArgs& a) {
                using K = Indexer<kHeads, kQueries, Form>;
                auto args = index_inputs<typename K::template On<Record>::Args>(a);
                args.scores = a.scores, args.positions = a.positions;
                bind<K::template On>(step, tuning, args);
              },
          .score_and_select =
              [](Step& step, const std::vector<Tuning>& tuning, const IndexerTopkArgs& a) {
                using K = IndexerTopk<kHeads, kQueries, Form>;
                auto args = index_inputs<typename K::template On<Record>::Args>(a);
                args.lists = a.lists, args.positions = a.positions, args.valid = a.valid;
                args.first_order = a.first_order;
                args.keeps = a.keeps, args.kept = a.kept;
                bind<K::template On>(step, tuning, args);
              }};
}

// The smallest of the given numbers of query tokens that holds `queries`.
template <int kHeads, class Form, int kFirst, int... kMore>
IndexSteps index_steps_for(int queries) {
  if constexpr (sizeof...(kMore) > 0)
    if (queries > kFirst) return index_steps_for<kHeads, Form, kMore...>(queries);
  return index_steps_of<kHeads, kFirst, Form>();
}

}  // namespace daybreak::kernels
