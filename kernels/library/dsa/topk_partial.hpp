// First stage of exact top-k: the best 2048 of a range of one token's scores, as a list of records
// in memory. One task = one token and one of `splits` ranges; a block of scores is loaded while the
// one before is sorted. (spec/operators.md section 3, top-k order)
#pragma once
#include "kernels/library/dsa/layouts.hpp"
#include "kernels/library/dsa/merging.hpp"
#include "kernels/tile/selection.hpp"

namespace daybreak::kernels {

template <class M> struct TopkPartial {
  using Pipeline = Selection;
  static constexpr const char* kName = "topk_partial";
  static constexpr int kBlock = 2048, kAlign = 64;  // scores of a step; of a range, a multiple of

  using List = typename M::template List<dsa::kTopk>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor scores;    // (tokens, positions) f32
    Tensor contexts;  // (1, requests) i32
    Tensor lists;     // (tokens * splits, 2048) records
    int tokens = 0, queries = 1, splits = 1;
  };
  struct Stage {
    typename M::template Tile<float, 1, kBlock> scores;
  };
  struct Fixed {};
  struct Scores {};
  struct Board {};
  struct State {
    List best, more[dsa::kFold];
  };

  struct Task {
    Args a;
    int number, token, first, count, trips;
  };

  static int tasks(const Args& a) { return a.tokens * a.splits; }
  static Task task(M& m, const Args& a, int number) {
    const int token = number / a.splits, split = number % a.splits;
    const int request = token / a.queries, own = token % a.queries;
    const int seen = dsa::visible(m.read(a.contexts, 0, request), a.queries, own);
    const int blocks = (seen + kAlign - 1) / kAlign;
    const int range = (blocks + a.splits - 1) / a.splits * kAlign;
    const int first = split * range, count = std::clamp(seen - first, 0, range);
    return {a, number, token, first, count, (count + kBlock - 1) / kBlock};
  }

  static void begin(M& m, const Task& t, State& st) {
    if (t.trips == 0) dsa::clear(m, st.best);
  }

  static void load(M& m, const Task& t, int step, Stage& s) {
    m.load(s.scores, t.a.scores, t.token, t.first + step * kBlock);
  }

  // The first block starts the running list; then up to three are sorted before they join it.
  static void select(M& m, const Task& t, int step, Stage& s, Board&, State& st) {
    const int slot = (step - 1) % dsa::kFold;
    List& to = step == 0 ? st.best : st.more[slot];
    m.topk_block(to, s.scores, t.first + step * kBlock, std::min(t.count - step * kBlock, kBlock));
    if (step > 0 && (slot == dsa::kFold - 1 || step + 1 == t.trips))
      dsa::fold(m, st.best, st.more, slot + 1);
  }

  static void finish(M& m, const Task& t, State& st) {
    m.store_list(t.a.lists, t.number, 0, st.best);
  }
};

}  // namespace daybreak::kernels
