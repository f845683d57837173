// Lightning indexer: score[t, s] = key_scale[s] * sum over heads of max(0, q8[t, h] . k8[s]) *
// w'[t, h]. One task = one request and a contiguous split of its logical pages, for all of the
// request's query tokens; pages are gathered through the request's block entries.
// (spec/operators.md section 3)
//
// Scores past what a token sees are stored like the others: readers stop at dsa::visible().
#pragma once
#include "kernels/library/dsa/forms.hpp"
#include "kernels/tile/selection.hpp"

namespace daybreak::kernels {

// What scoring needs whether or not selection follows in the same launch.
// kHeads: index heads, padded with zero rows. kQueries: query tokens of a request, at most.
// kPages: pages of a step.
template <class M, int kHeads, int kQueries, class Form,
          int kPages = kQueries >= 4 ? 1 : 4 / kQueries>
struct IndexScoring {
  static constexpr int kColumns = kHeads * kQueries;  // columns of the dot products
  static constexpr int kKeys = kPages * dsa::kIndexPage;
  using Code = typename Form::Code;

  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  using Tensor = typename M::Tensor;

  struct Inputs {
    Tensor q;              // (tokens * kHeads, 128) codes
    Tensor weights;        // (tokens * kHeads, 1) f32: w'
    Tensor keys;           // (pages, 64, 128) codes
    Tensor key_scales;     // (pages, 64, 1) f32; not read in the BF16 form
    Tensor page_requests;  // (requests, 4) i32
    Tensor page_blocks;    // (1, entries) i32
    Tensor contexts;       // (1, requests) i32: context lengths, this step's tokens included
    int requests = 0, queries = 1, splits = 1;
  };
  struct Stage {
    Tile<Code, kKeys, dsa::kKey> keys;
    Tile<float, kKeys, 1> scales;
  };
  struct Fixed {
    Tile<Code, kColumns, dsa::kKey> q;
    Tile<float, kColumns, 1> weights;
  };
  struct Scores {
    typename M::template Acc<kKeys, kColumns> dots;
  };

  // The pages of one task.
  struct Span {
    int request, split, context;
    int block;         // block entry of the request's first page
    int first, pages;  // logical pages of this split
    int per_split;     // pages of a full split
    int trips;
    DAYBREAK_DEVICE int position(int step) const {
      return (first + step * kPages) * dsa::kIndexPage;
    }
  };
  static DAYBREAK_DEVICE Span span(M& m, const Inputs& a, int number) {
    const int request = number / a.splits, split = number % a.splits;
    const int context = m.read(a.contexts, 0, request);
    const int pages = (context + dsa::kIndexPage - 1) / dsa::kIndexPage;
    const int steps = (pages + kPages - 1) / kPages;
    const int per_split = (steps + a.splits - 1) / a.splits * kPages;
    const int first = least(split * per_split, pages);
    const int own = least(per_split, pages - first);
    return {request, split, context,   m.read(a.page_requests, request, 0),
            first,   own,   per_split, (own + kPages - 1) / kPages};
  }

  static DAYBREAK_DEVICE void prepare(M& m, const Inputs& a, const Span& t, Fixed& f) {
    m.load(f.q, a.q, t.request * a.queries * kHeads, 0);
    m.load(f.weights, a.weights, t.request * a.queries * kHeads, 0);
  }

  // The last step of a request takes its last page again where it has no more: what it scores there
  // no one reads, and no block entry past the request's own is touched.
  static DAYBREAK_DEVICE void load(M& m, const Inputs& a, const Span& t, int step, Stage& s) {
    const int page = step * kPages, from = t.block + t.first;
    if (page + kPages <= t.pages) {
      gather(m, a, from + page, s.keys, s.scales);
      return;
    }
    for (int p = 0; p < kPages; ++p)
      gather(m, a, from + least(page + p, t.pages - 1),
             rows<dsa::kIndexPage>(s.keys, p * dsa::kIndexPage),
             rows<dsa::kIndexPage>(s.scales, p * dsa::kIndexPage));
  }

  static DAYBREAK_DEVICE void score(M& m, Fixed& f, Stage& s, Scores& sc) {
    m.mma_abt(sc.dots, s.keys, f.q, false);  // (keys, tokens * heads)
  }

  // One token's sums over its heads. The products leave the accumulator in one pass, since the path
  // between accumulator and vector unit is narrower than the unit itself.
  template <class To>
  static DAYBREAK_DEVICE void weigh(M& m, int own, Fixed& f, Scores& sc, To&& to) {
    typename M::template Local<float, kKeys, kHeads> weighted(m);
    m.act(weighted, columns<kHeads>(sc.dots, own * kHeads), isa::Function::relu, 1.f);
    m.scale_columns(weighted, rows<kHeads>(f.weights, own * kHeads));
    m.sum_rows(to, weighted);  // (keys, 1)
  }
  // Its scores from them.
  template <class To, class Sums>
  static DAYBREAK_DEVICE void scale(M& m, To&& to, Sums& sums, Stage& s) {
    if constexpr (Form::kQuantised)
      m.mul(to, sums, s.scales);
    else
      m.cast(to, sums);
  }

 private:
  template <class Keys, class Scales>
  static DAYBREAK_DEVICE void gather(M& m, const Inputs& a, int entry, Keys&& keys,
                                     Scales&& scales) {
    m.gather_pages(keys, a.keys, 0, a.page_blocks, 0, entry);
    if constexpr (Form::kQuantised)
      m.gather_pages(scales, a.key_scales, 0, a.page_blocks, 0, entry);
  }
};

template <class M, int kHeads, int kQueries, class Form,
          int kPages = kQueries >= 4 ? 1 : 4 / kQueries>
struct IndexerOf {
  using Pipeline = Selection;
  using Scoring = IndexScoring<M, kHeads, kQueries, Form, kPages>;
  static constexpr const char* kName = "indexer";

  struct Args : Scoring::Inputs {
    typename M::Tensor scores;  // (tokens * positions, 1) f32
    int positions = 0;          // of a row of the score matrix: dsa::padded_context
  };
  using Stage = typename Scoring::Stage;
  using Fixed = typename Scoring::Fixed;
  using Scores = typename Scoring::Scores;
  struct Board {};
  struct State {};
  struct Task : Scoring::Span {
    Args a;
  };

  static DAYBREAK_BOTH int tasks(const Args& a) { return a.requests * a.splits; }
  static DAYBREAK_DEVICE Task task(M& m, const Args& a, int number) {
    return {Scoring::span(m, a, number), a};
  }

  static DAYBREAK_DEVICE void prepare(M& m, const Task& t, Fixed& f) {
    Scoring::prepare(m, t.a, t, f);
  }
  static DAYBREAK_DEVICE void load(M& m, const Task& t, int step, Stage& s) {
    Scoring::load(m, t.a, t, step, s);
  }
  static DAYBREAK_DEVICE void score(M& m, const Task&, int, Fixed& f, Stage& s, Scores& sc) {
    Scoring::score(m, f, s, sc);
  }
  static DAYBREAK_DEVICE void weigh(M& m, const Task& t, int step, Fixed& f, Stage& s, Scores& sc,
                                    Board&) {
    repeat<kQueries>([&](auto own) {
      if (own >= t.a.queries) return;
      typename M::template Local<float, Scoring::kKeys, 1> sums(m), scores(m);
      Scoring::weigh(m, own, f, sc, sums);
      Scoring::scale(m, scores, sums, s);
      const int64_t token = t.request * t.a.queries + own;
      m.store(t.a.scores, token * t.a.positions + t.position(step), 0, scores);
    });
  }
};

template <int kHeads, int kQueries, class Form = dsa::Fp8> struct Indexer {
  template <class M> using On = IndexerOf<M, kHeads, kQueries, Form>;
};

}  // namespace daybreak::kernels
