// Pipeline of elementwise and row kernels (prepare, append, translate, combine). Kernels declare
//
//   struct Task { int trips; ... };   steps, >= 0
//   struct Stage {...};   ring slot, filled by load    struct Fixed {...};   one task: prepare
//   struct State {...};   carried from step to step    struct Result {...};  ring slot: compute
//   (a lifetime that is not needed is empty)
//   static int tasks(const Args&);
//   static Task task(M&, const Args&, int number);
//   static void prepare(M&, const Task&, Fixed&);                                     optional
//   static void begin(M&, const Task&, State&);                                       optional
//   static void load(M&, const Task&, int step, Stage&);                              optional
//   static void compute(M&, const Task&, int step, Fixed&, Stage&, State&, Result&);
//   static void store(M&, const Task&, int step, Result&);                            optional
//   static void finish(M&, const Task&, State&);                                      optional
//
// Loads run Tuning::ring steps ahead; Result has as many slots, so a store overlaps the next step.
#pragma once
#include "kernels/tile/lifetime.hpp"

namespace daybreak::kernels {

struct Rowwise {
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
    Ring<typename K::Stage, M> ring;
    Ring<typename K::Result, M> results;
    Owned<typename K::Fixed, M> fixed;
    Owned<typename K::State, M> state;

    Run(M& machine, const typename K::Args& args, int number, const Tuning& tuning)
        : m(machine),
          task(read_task<K>(m, args, number)),
          ring(m, "stage", tuning.ring),
          results(m, "result", tuning.ring),
          fixed(m, "fixed"),
          state(m, "state") {}

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
      for (int step = 0; step < task.trips; ++step) {
        m.enter("compute", step);
        K::compute(m, task, step, fixed.value, ring.at(step), state.value, results.at(step));
        m.settle();
        store(step);
        m.release(ring.slot(step));
        if (step + ring.depth() < task.trips) load(step + ring.depth());
      }
      if constexpr (requires { &K::finish; }) {
        m.enter("finish", 0);
        K::finish(m, task, state.value);
      }
    }

    void load(int step) {
      if constexpr (requires { &K::load; }) {
        m.enter("load", step);
        K::load(m, task, step, ring.at(step));
      }
    }

    void store(int step) {
      if constexpr (requires { &K::store; }) {
        m.enter("store", step);
        K::store(m, task, step, results.at(step));
      }
      m.release(results.slot(step));
    }
  };
};

}  // namespace daybreak::kernels
