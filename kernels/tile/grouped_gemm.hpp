// Pipeline of matrix products over groups of rows (experts). A task works through items; an item is one
// result tile, made of `panels` pieces of the reduction; each piece has one left tile and `tiles` right
// tiles. Kernels declare
//
//   struct Task { int items, panels, tiles; ... };   what all control flow and addresses depend on
//   struct Left {...};    ring slot: a piece of the left rows        struct Right {...};  ring slot
//   struct Acc {...};     accumulators of one item                   struct Result {...}; of one item
//   static int tasks(const Args&);
//   static Task task(M&, const Args&, int number);
//   static bool same_left(const Task&, int item);   its left tile is that of the item before; panels 1
//   static void load_left(M&, const Task&, int item, int panel, Left&);
//   static void load_right(M&, const Task&, int item, int panel, int tile, Right&);
//   static void multiply(M&, const Task&, int item, int panel, int tile, Left&, Right&, Acc&);
//   static void finish(M&, const Task&, int item, Acc&, Result&);
//
// Loads run Tuning::ring right tiles ahead of the products, across items, as far as Tuning::left left
// tiles allow. Tuning::boards accumulators let the next item start while one is finished.
#pragma once
#include "kernels/tile/lifetime.hpp"

namespace daybreak::kernels {

struct GroupedGemm {
  template <class K, class M>
  static void run(M& m, const typename K::Args& args, int number, const Tuning& tuning) {
    check_tuning(K::kName, tuning, 0);
    Run<K, M> run(m, args, number, tuning);
    run.all();
  }

 private:
  // A place in the order of right tiles.
  struct Place {
    int item = 0, panel = 0, tile = 0;
    int left = -1;  // number of its left tile, counted over the task
  };

  template <class K, class M> struct Run {
    M& m;
    const typename K::Task task;
    Ring<typename K::Left, M> lefts;
    Ring<typename K::Right, M> rights;
    Ring<typename K::Acc, M> accs;
    Ring<typename K::Result, M> results;
    Place ahead;  // next tile to load
    int loaded = 0, step = 0;

    Run(M& machine, const typename K::Args& args, int number, const Tuning& tuning)
        : m(machine),
          task(read_task<K>(m, args, number)),
          lefts(m, "left", tuning.left),
          rights(m, "right", tuning.ring),
          accs(m, "accumulators", tuning.boards),
          results(m, "result", tuning.boards) {}

    void all() {
      Place now;
      for (; now.item < task.items; advance(now), ++step) {
        enter_left(now);
        load_ahead(now.left);
        m.enter("multiply", step);
        K::multiply(m, task, now.item, now.panel, now.tile, lefts.at(now.left), rights.at(step),
                    accs.at(now.item));
        if (now.panel + 1 == task.panels && now.tile + 1 == task.tiles) {
          m.settle();
          m.enter("finish", now.item);
          K::finish(m, task, now.item, accs.at(now.item), results.at(now.item));
          m.release(results.slot(now.item));
        }
        m.release(rights.slot(step));
      }
    }

    void advance(Place& p) const {
      if (++p.tile < task.tiles) return;
      p.tile = 0;
      if (++p.panel < task.panels) return;
      p.panel = 0, ++p.item;
    }

    // Whether the place is the first that needs its left tile; counts it then.
    bool enter_left(Place& p) const {
      const bool again = p.panel == 0 && p.item > 0 && K::same_left(task, p.item);
      if (p.tile > 0 || again) return false;
      ++p.left;
      return true;
    }

    void load_ahead(int left) {
      while (loaded < step + rights.depth() && ahead.item < task.items) {
        Place next = ahead;
        const bool fresh = enter_left(next);
        if (next.left - left >= lefts.depth()) return;  // its slot is still read
        if (fresh) {
          if (next.left >= lefts.depth()) m.release(lefts.slot(next.left));
          m.enter("load_left", next.left);
          K::load_left(m, task, next.item, next.panel, lefts.at(next.left));
        }
        m.enter("load_right", loaded);
        K::load_right(m, task, next.item, next.panel, next.tile, rights.at(loaded));
        ++loaded;
        ahead = next;
        advance(ahead);
      }
    }
  };
};

}  // namespace daybreak::kernels
