// Scoring and selection in one launch. Every task scores its split of a request's pages and keeps
// the best 2048 of each query token; all but the request's last task store their lists and signal,
// the last waits for them, merges, and writes the selections. It only waits for tasks with lower
// numbers, which have started before it, so any number of cores makes progress.
#pragma once
#include "kernels/library/dsa/indexer.hpp"
#include "kernels/library/dsa/merging.hpp"

namespace daybreak::kernels {

template <class M, int kHeads, int kQueries, class Form> struct IndexerTopkOf {
  using Pipeline = Selection;
  using Scoring = IndexScoring<M, kHeads, kQueries, Form>;
  static constexpr const char* kName = "indexer_topk";
  static constexpr int kKeys = Scoring::kKeys;
  static constexpr int kBlock = 1024, kSteps = kBlock / kKeys;  // scores sorted at a time

  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  using List = typename M::template List<dsa::kTopk>;
  using Tensor = typename M::Tensor;

  struct Args : Scoring::Inputs {
    Tensor lists;         // (requests * splits * queries, 2048) records, between tasks
    Tensor positions;     // (requests * queries, 2048) i32
    Tensor valid;         // (1, requests * queries) i32
    int first_order = 0;  // counter of request 0; request r uses first_order + r
    bool keeps = false;
    Tensor kept;  // (requests * queries, 2048) records, best first; written if keeps
  };
  using Stage = typename Scoring::Stage;
  using Fixed = typename Scoring::Fixed;
  using Scores = typename Scoring::Scores;
  struct Board {
    Tile<float, kKeys, 1> sums[kQueries];
  };
  struct State {
    Tile<float, kBlock, 1> scores[2][kQueries];  // one block fills while the other is sorted
    List best[kQueries];
  };
  struct Task : Scoring::Span {
    Args a;
    DAYBREAK_DEVICE bool last() const { return this->split == a.splits - 1; }
    DAYBREAK_DEVICE int list(int split, int own) const {
      return (this->request * a.splits + split) * a.queries + own;
    }
  };

  static DAYBREAK_BOTH int tasks(const Args& a) { return a.requests * a.splits; }
  static DAYBREAK_DEVICE Task task(M& m, const Args& a, int number) {
    return {Scoring::span(m, a, number), a};
  }

  static DAYBREAK_DEVICE void prepare(M& m, const Task& t, Fixed& f) {
    Scoring::prepare(m, t.a, t, f);
  }
  static DAYBREAK_DEVICE void begin(M& m, const Task& t, State& st) {
    for (int own = 0; own < t.a.queries; ++own) {
      if (t.trips == 0) dsa::clear(m, st.best[own]);
      for (auto& block : st.scores)
        if (t.trips > 0) m.fill(block[own], 0.f);
    }
  }
  static DAYBREAK_DEVICE void load(M& m, const Task& t, int step, Stage& s) {
    Scoring::load(m, t.a, t, step, s);
  }
  static DAYBREAK_DEVICE void score(M& m, const Task&, int, Fixed& f, Stage& s, Scores& sc) {
    Scoring::score(m, f, s, sc);
  }
  static DAYBREAK_DEVICE void weigh(M& m, const Task& t, int, Fixed& f, Stage&, Scores& sc,
                                    Board& b) {
    for (int own = 0; own < t.a.queries; ++own) Scoring::weigh(m, own, f, sc, b.sums[own]);
  }

  static DAYBREAK_DEVICE void select(M& m, const Task& t, int step, Stage& s, Board& b, State& st) {
    const int block = step / kSteps, place = step % kSteps;
    const bool full = place == kSteps - 1 || step == t.trips - 1;
    for (int own = 0; own < t.a.queries; ++own) {
      auto& scores = st.scores[block % 2][own];
      Scoring::scale(m, rows<kKeys>(scores, place * kKeys), b.sums[own], s);
      if (!full) continue;
      const int first = t.position(block * kSteps);
      const int seen = dsa::visible(t.context, t.a.queries, own) - first;
      const int end = (t.first + t.pages) * dsa::kIndexPage - first;
      const int count = within(least(seen, end), 0, kBlock);
      if (block == 0) {
        m.topk_block(st.best[own], scores, first, count);
      } else {
        List more;
        m.topk_more(st.best[own], more, scores, first, count);
      }
    }
  }

  static DAYBREAK_DEVICE void finish(M& m, const Task& t, State& st) {
    const typename M::Order order{t.a.first_order + t.request};
    if (!t.last()) {
      if (t.trips > 0)
        for (int own = 0; own < t.a.queries; ++own)
          m.store_list(t.a.lists, t.list(t.split, own), 0, st.best[own]);
      m.signal(order);
      return;
    }
    if (t.a.splits > 1) m.wait(order, t.a.splits - 1);
    for (int own = 0; own < t.a.queries; ++own) merge(m, t, own, st.best[own]);
  }

 private:
  // Splits that had pages, this one's own list aside, three lists at a time.
  static DAYBREAK_DEVICE void merge(M& m, const Task& t, int own, List& best) {
    const int pages = (t.context + dsa::kIndexPage - 1) / dsa::kIndexPage;
    const int filled = t.per_split > 0 ? (pages + t.per_split - 1) / t.per_split : 0;
    const int others = least(filled, t.a.splits - 1);
    for (int split = 0; split < others; split += dsa::kFold) {
      List more[dsa::kFold];
      const int count = least(others - split, dsa::kFold);
      for (int i = 0; i < count; ++i) m.load_list(more[i], t.a.lists, t.list(split + i, own), 0);
      dsa::fold(m, best, more, count);
    }
    const int token = t.request * t.a.queries + own;
    if (t.a.keeps) m.store_list(t.a.kept, token, 0, best);
    dsa::store_selection(m, t.a.positions, t.a.valid, token, best);
  }
};

template <int kHeads, int kQueries, class Form = dsa::Fp8> struct IndexerTopk {
  template <class M> using On = IndexerTopkOf<M, kHeads, kQueries, Form>;
};

}  // namespace daybreak::kernels
