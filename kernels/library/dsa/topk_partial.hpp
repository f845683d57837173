// First stage of exact top-k: the best 2048 of a range of one token's scores, as a list of records
// in memory. One task = one token and one of `splits` ranges; a block of scores is loaded while the
// one before is sorted. One range alone may store its list as the selection, without a second stage.
// (spec/operators.md section 3, top-k order)
#pragma once
#include "kernels/library/dsa/layouts.hpp"
#include "kernels/library/dsa/merging.hpp"
#include "kernels/tile/selection.hpp"

namespace daybreak::kernels {

// kBlock: scores of a step. kFold: blocks sorted before they join the running list; 1: each joins as it
// comes; 0: a range is one block.
template <class M, int kBlock = 2048, int kFold = dsa::kFold> struct TopkPartialOf {
  using Pipeline = Selection;
  static constexpr const char* kName = "topk_partial";
  static constexpr int kAlign = 64;  // a range begins at a multiple of this many scores

  using List = typename M::template List<dsa::kTopk>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor scores;     // (tokens, positions) f32
    Tensor contexts;   // (1, requests) i32
    Tensor lists;      // (tokens * splits, 2048) records
    Tensor positions;  // (tokens, 2048) i32, where `alone`
    Tensor valid;      // (1, tokens) i32, where `alone`
    int tokens = 0, queries = 1, splits = 1;
    bool alone = false;  // splits is 1: no merging follows
  };
  struct Stage {
    typename M::template Tile<float, 1, kBlock> scores;
  };
  struct Fixed {};
  struct Scores {};
  struct Board {};
  struct One {
    List best;
  };
  struct Running {
    List best, more[kFold > 0 ? kFold : 1];
  };
  using State = std::conditional_t<kFold == 0, One, Running>;

  struct Task {
    Args a;
    int number, token, first, count, trips;
  };

  static DAYBREAK_BOTH int tasks(const Args& a) { return a.tokens * a.splits; }
  static DAYBREAK_DEVICE Task task(M& m, const Args& a, int number) {
    const int token = quotient(number, a.splits), split = number - token * a.splits;
    const int request = quotient(token, a.queries), own = token - request * a.queries;
    const int seen = dsa::visible(m.read(a.contexts, 0, request), a.queries, own);
    const int blocks = (seen + kAlign - 1) / kAlign;
    const int range = quotient(blocks + a.splits - 1, a.splits) * kAlign;
    const int first = split * range, count = within(seen - first, 0, range);
    return {a, number, token, first, count, kFold == 0 ? 1 : (count + kBlock - 1) / kBlock};
  }

  static DAYBREAK_DEVICE void begin(M& m, const Task& t, State& st) {
    if constexpr (kFold > 0)
      if (kFold == 1 || t.trips == 0) dsa::clear(m, st.best);
  }

  static DAYBREAK_DEVICE void load(M& m, const Task& t, int step, Stage& s) {
    m.load(s.scores, t.a.scores, t.token, t.first + step * kBlock);
  }

  // The first block starts the running list; then up to kFold are sorted before they join it.
  static DAYBREAK_DEVICE void select(M& m, const Task& t, int step, Stage& s, Board&, State& st) {
    const auto sort = [&](List& to) {
      m.topk_block(to, s.scores, t.first + step * kBlock, least(t.count - step * kBlock, kBlock));
    };
    if constexpr (kFold == 0) {
      sort(st.best);
    } else if constexpr (kFold == 1) {
      m.topk_more(st.best, st.more[0], s.scores, t.first + step * kBlock,
                  least(t.count - step * kBlock, kBlock));
    } else {
      const int slot = (step - 1) % kFold;
      sort(step == 0 ? st.best : st.more[slot]);
      if (step > 0 && (slot == kFold - 1 || step + 1 == t.trips))
        dsa::fold(m, st.best, st.more, slot + 1);
    }
  }

  static DAYBREAK_DEVICE void finish(M& m, const Task& t, State& st) {
    if (t.a.alone)
      dsa::store_selection(m, t.a.positions, t.a.valid, t.token, st.best);
    else
      m.store_list(t.a.lists, t.number, 0, st.best);
  }
};

template <class M> using TopkPartial = TopkPartialOf<M>;

}  // namespace daybreak::kernels
