// Cached-index decode: a token attends to the list an earlier token kept (score and position, best
// first), with every position appended since then added before all others; what the list has too
// many falls out at its end. One task = one token. (spec/operators.md section 3, index reuse)
#pragma once
#include "kernels/library/dsa/layouts.hpp"
#include "kernels/library/dsa/merging.hpp"
#include "kernels/tile/selection.hpp"

namespace daybreak::kernels {

template <class M> struct MergeAdd {
  using Pipeline = Selection;
  static constexpr const char* kName = "merge_add";
  static constexpr int kMost = 256;          // positions appended since the list was made
  static constexpr float kAlways = 3.0e38f;  // over every score

  using List = typename M::template List<dsa::kTopk>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor lists;      // (rows, 2048) records, kept by an exact step
    Tensor sources;    // (1, requests) i32: row of the request's list
    Tensor listed;     // (1, requests) i32: positions that its token saw
    Tensor contexts;   // (1, requests) i32
    Tensor positions;  // (requests * queries, 2048) i32
    Tensor valid;      // (1, requests * queries) i32
    int tokens = 0, queries = 1;
  };
  struct Stage {};
  struct Fixed {};
  struct Scores {};
  struct Board {};
  struct State {
    List best;
  };
  struct Task {
    Args a;
    int token, source, first, count, trips;
  };

  static DAYBREAK_BOTH int tasks(const Args& a) { return a.tokens; }
  static DAYBREAK_DEVICE Task task(M& m, const Args& a, int number) {
    const int request = number / a.queries, first = m.read(a.listed, 0, request);
    const int seen = dsa::visible(m.read(a.contexts, 0, request), a.queries, number % a.queries);
    return {a, number, m.read(a.sources, 0, request), first, within(seen - first, 0, kMost), 0};
  }

  static DAYBREAK_DEVICE void begin(M& m, const Task& t, State& st) {
    m.load_list(st.best, t.a.lists, t.source, 0);
  }

  static DAYBREAK_DEVICE void load(M&, const Task&, int, Stage&) {}

  static DAYBREAK_DEVICE void finish(M& m, const Task& t, State& st) {
    if (t.count > 0) {
      typename M::template Local<float, 1, kMost> always(m);
      List added;
      m.fill(always, kAlways);
      m.topk_more(st.best, added, always, t.first, t.count);
    }
    dsa::store_selection(m, t.a.positions, t.a.valid, t.token, st.best);
  }
};

}  // namespace daybreak::kernels
