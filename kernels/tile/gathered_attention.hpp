// Pipeline of attention over gathered keys. It owns the ring, the order of the bodies, settling and
// release; kernel text has none of that. Kernels of this shape declare
//
//   struct Task { int trips; ... };   steps, >= 1; all that control flow and addresses depend on
//   struct Stage {...};               ring slot, filled by load (and convert)
//   struct Fixed {...};               one task, filled by prepare
//   struct Scores {...};              one step's scores
//   struct Board {...};               one step: weigh writes; accumulate, next weigh, finish read
//   struct State {...};               one consumer's outputs and row vectors
//   static constexpr int kDim;        reduction length of the scores, a multiple of 64
//   static int tasks(const Args&);
//   static bool pairs(const Args&);   optional: whether tasks 2n and 2n + 1 gather the same rows
//   static Task task(M&, const Args&, int number);
//   static void prepare(M&, const Task&, Fixed&);
//   static void load(M&, const Task&, int step, Stage&);
//   static void convert(M&, const Task&, int step, Stage&);          optional: raw records to BF16
//   static void begin(M&, const Task&, State&);
//   template <int kFrom, int kTo> static void score(M&, const Task&, Fixed&, Stage&, Scores&);
//   static void weigh(M&, const Task&, int step, Scores&, const Board& before, Board& now);
//   static void accumulate(M&, const Task&, int step, int share, Stage&, Board&, State&);
//   static void finish(M&, const Task&, int share, Board& last, State&);
//
// `share` counts the consumers, M::kConsumers of them, each with its own columns of the output.
// `before` is the Board of step - 1 (contents undefined at step 0); with one board it is the same
// tile as `now`. Scores of the next step run ahead by Tuning::score_ahead columns, so that the
// matrix unit works while this step is weighed.
#pragma once
#include <utility>

#include "kernels/tile/lifetime.hpp"
#include "kernels/tile/tuning.hpp"

namespace daybreak::kernels {

struct GatheredAttention {
  template <class K, class M>
  static void run(M& m, const typename K::Args& args, int number, const Tuning& tuning) {
    check_tuning(K::kName, tuning, K::kDim);
    Run<K, M> run(m, args, number, tuning);
    if constexpr (requires { K::pairs(args); })
      if (tuning.pair && K::pairs(args)) m.pair(number % 2);
    run.all();
    m.pair(-1);
  }

 private:
  template <class K, class M> struct Run {
    M& m;
    const typename K::Task task;
    const int ahead;
    Ring<typename K::Stage, M> ring;
    Ring<typename K::Board, M> boards;
    Ring<typename K::Scores, M> scores;
    Owned<typename K::Fixed, M> fixed;
    Ring<typename K::State, M> states;

    Run(M& machine, const typename K::Args& args, int number, const Tuning& tuning)
        : m(machine),
          task(read_task<K>(m, args, number)),
          ahead(tuning.score_ahead),
          ring(m, "stage", tuning.ring),
          boards(m, "board", tuning.boards),
          scores(m, "scores", ahead > 0 ? 2 : 1),
          fixed(m, "fixed"),
          states(m, "state", M::kConsumers) {
      static_assert(K::kDim % 64 == 0, "scores are cut at multiples of 64");
      for (int i = 0; i < tuning.boards; ++i) m.guard_board(boards.slot(i));
    }

    void all() {
      m.enter("prepare", 0);
      K::prepare(m, task, fixed.value);
      for (int step = 0; step < ring.depth() && step < task.trips; ++step) load(step);
      for (int share = 0; share < M::kConsumers; ++share) {
        m.enter("begin", share);
        K::begin(m, task, states.at(share));
      }
      convert(0);
      score_first(0);
      for (int step = 0; step < task.trips; ++step) {
        score_rest(step);
        const bool next = step + 1 < task.trips, landed = next && ring.depth() > 1;
        if (landed) convert(step + 1), score_first(step + 1);
        m.settle();
        weigh(step);
        accumulate(step);
        m.release(ring.slot(step));
        if (step + ring.depth() < task.trips) load(step + ring.depth());
        if (next && !landed) convert(step + 1);
      }
      for (int share = 0; share < M::kConsumers; ++share) {
        m.enter("finish", share);
        K::finish(m, task, share, boards.at(task.trips - 1), states.at(share));
      }
    }

    void load(int step) {
      m.enter("load", step);
      K::load(m, task, step, ring.at(step));
    }

    void convert(int step) {
      if constexpr (requires { &K::convert; }) {
        m.enter("convert", step);
        K::convert(m, task, step, ring.at(step));
      }
    }

    template <int kFrom, int kTo> void score(int step) {
      m.enter("score", step);
      K::template score<kFrom, kTo>(m, task, fixed.value, ring.at(step), scores.at(step));
    }

    // Columns [0, ahead) of a step's scores, and the others. The cut is a template argument of the
    // body.
    void score_first(int step) {
      cuts(step, [&]<int kCut>() {
        if constexpr (kCut > 0) score<0, kCut>(step);
      });
    }
    void score_rest(int step) {
      cuts(step, [&]<int kCut>() {
        if constexpr (kCut < K::kDim) score<kCut, K::kDim>(step);
      });
    }
    template <class F> void cuts(int, F&& f) {
      [&]<int... kCut>(std::integer_sequence<int, kCut...>) {
        ((kCut * 64 == ahead ? f.template operator()<kCut * 64>() : void()), ...);
      }(std::make_integer_sequence<int, K::kDim / 64 + 1>());
    }

    void weigh(int step) {
      m.enter("weigh", step);
      K::weigh(m, task, step, scores.at(step), std::as_const(boards.at(step + boards.depth() - 1)),
               boards.at(step));
    }

    void accumulate(int step) {
      for (int share = 0; share < M::kConsumers; ++share) {
        m.enter("accumulate", step);
        K::accumulate(m, task, step, share, ring.at(step), boards.at(step), states.at(share));
      }
      m.settle();
    }
  };
};

}  // namespace daybreak::kernels
