// Second stage of exact top-k: the partial lists of one token become its selection: 2048 positions,
// ascending, -1 last, and their count. One task = one token; lists are loaded while others merge.
#pragma once
#include "kernels/library/dsa/layouts.hpp"
#include "kernels/library/dsa/merging.hpp"
#include "kernels/tile/selection.hpp"

namespace daybreak::kernels {

template <class M> struct TopkMerge {
  using Pipeline = Selection;
  static constexpr const char* kName = "topk_merge";

  using List = typename M::template List<dsa::kTopk>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor lists;      // (tokens * splits, 2048) records
    Tensor positions;  // (tokens, 2048) i32
    Tensor valid;      // (1, tokens) i32
    int tokens = 0, splits = 1;
  };
  struct Stage {
    List more[dsa::kFold];
  };
  struct Fixed {};
  struct Scores {};
  struct Board {};
  struct State {
    List best;
  };

  struct Task {
    Args a;
    int token, trips;
    DAYBREAK_DEVICE int lists(int step) const {
      return least(a.splits - 1 - step * dsa::kFold, dsa::kFold);
    }
  };

  static DAYBREAK_BOTH int tasks(const Args& a) { return a.tokens; }
  static DAYBREAK_DEVICE Task task(M&, const Args& a, int number) {
    return {a, number, (a.splits - 1 + dsa::kFold - 1) / dsa::kFold};
  }

  static DAYBREAK_DEVICE void begin(M& m, const Task& t, State& st) {
    m.load_list(st.best, t.a.lists, t.token * t.a.splits, 0);
  }

  static DAYBREAK_DEVICE void load(M& m, const Task& t, int step, Stage& s) {
    for (int i = 0; i < t.lists(step); ++i)
      m.load_list(s.more[i], t.a.lists, t.token * t.a.splits + 1 + step * dsa::kFold + i, 0);
  }

  static DAYBREAK_DEVICE void select(M& m, const Task& t, int step, Stage& s, Board&, State& st) {
    dsa::fold(m, st.best, s.more, t.lists(step));
  }

  static DAYBREAK_DEVICE void finish(M& m, const Task& t, State& st) {
    dsa::store_selection(m, t.a.positions, t.a.valid, t.token, st.best);
  }
};

}  // namespace daybreak::kernels
