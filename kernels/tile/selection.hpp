// Pipeline of scoring and selection: indexer scoring, top-k, both fused, merging of lists. Kernels
// declare
//
//   struct Task { int trips; ... };   steps, >= 0
//   struct Stage {...};   ring slot, filled by load   struct Fixed {...};   one task: prepare
//   struct Scores {...};  one step's accumulators     struct Board {...};   one step: weigh
//   struct State {...};   the running list                (a lifetime that is not needed is empty)
//   static int tasks(const Args&);
//   static Task task(M&, const Args&, int number);
//   static void prepare(M&, const Task&, Fixed&);                                   optional
//   static void begin(M&, const Task&, State&);                                     optional
//   static void load(M&, const Task&, int step, Stage&);
//   static void score(M&, const Task&, int step, Fixed&, Stage&, Scores&);         optional: matrix
//   static void weigh(M&, const Task&, int step, Fixed&, Stage&, Scores&, Board&); optional: vector
//   static void select(M&, const Task&, int step, Stage&, Board&, State&);          optional: sort
//   static void finish(M&, const Task&, State&);                                    optional
//
// The next step's score is issued before this step is weighed when Tuning::score_ahead > 0; with
// two boards the sort unit works on one step while the next is weighed.
#pragma once
#include "kernels/tile/lifetime.hpp"

namespace daybreak::kernels {

struct Selection {
  template <class K, class M>
  static void run(M& m, const typename K::Args& args, int number, const Tuning& tuning) {
    check_tuning(K::kName, tuning, 0);
    Run<K, M> run(m, args, number, tuning);
    run.all();
  }

 private:
  template <class K, class M> struct Run {
    M& m;
    const typename K::Task task;
    const bool ahead;
    Ring<typename K::Stage, M> ring;
    Ring<typename K::Board, M> boards;
    Ring<typename K::Scores, M> scores;
    Owned<typename K::Fixed, M> fixed;
    Owned<typename K::State, M> state;

    Run(M& machine, const typename K::Args& args, int number, const Tuning& tuning)
        : m(machine),
          task(read_task<K>(m, args, number)),
          ahead(tuning.score_ahead > 0),
          ring(m, "stage", tuning.ring),
          boards(m, "board", tuning.boards),
          scores(m, "scores", ahead ? 2 : 1),
          fixed(m, "fixed"),
          state(m, "state") {
      for (int i = 0; i < tuning.boards; ++i) m.guard_board(boards.slot(i));
    }

    void all() {
      if constexpr (requires { &K::prepare; }) {
        m.enter("prepare", 0);
        K::prepare(m, task, fixed.value);
      }
      for (int step = 0; step < ring.depth() && step < task.trips; ++step) load(step);
      if constexpr (requires { &K::begin; }) {
        m.enter("begin", 0);
        K::begin(m, task, state.value);
      }
      if (ahead && task.trips > 0) score(0);
      for (int step = 0; step < task.trips; ++step) {
        const int scored = ahead ? step + 1 : step;
        if (scored < task.trips) score(scored);
        m.settle();
        weigh(step);
        select(step);
        m.release(ring.slot(step));
        if (step + ring.depth() < task.trips) load(step + ring.depth());
      }
      if constexpr (requires { &K::finish; }) {
        m.enter("finish", 0);
        K::finish(m, task, state.value);
      }
    }

    void load(int step) {
      m.enter("load", step);
      K::load(m, task, step, ring.at(step));
    }

    void score(int step) {
      if constexpr (requires { &K::score; }) {
        m.enter("score", step);
        K::score(m, task, step, fixed.value, ring.at(step), scores.at(step));
      }
    }

    void weigh(int step) {
      if constexpr (requires { &K::weigh; }) {
        m.enter("weigh", step);
        K::weigh(m, task, step, fixed.value, ring.at(step), scores.at(step), boards.at(step));
      }
    }

    void select(int step) {
      if constexpr (requires { &K::select; }) {
        m.enter("select", step);
        K::select(m, task, step, ring.at(step), boards.at(step), state.value);
      }
    }
  };
};

}  // namespace daybreak::kernels
