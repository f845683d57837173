// Small kernels of each shape, for tests of the machines themselves.
#pragma once
#include <algorithm>

#include "kernels/tile/gathered_attention.hpp"
#include "kernels/tile/machine.hpp"
#include "kernels/tile/rowwise.hpp"
#include "kernels/tile/selection.hpp"

namespace daybreak::testing {

using namespace kernels;

// Attention of 16 heads over gathered raw records of 128 E4M3 codes, 1 scale, 64 BF16 (260 bytes
// each): every role of the pipeline, sizes that split badly (192-wide keys, 128-wide values).
template <class M> struct SmallAttention {
  static constexpr int kHeads = 16, kKeys = 64, kLatent = 128, kRope = 64, kDim = 192,
                       kRecord = 260;
  static constexpr const char* kName = "small_attention";
  using Pipeline = GatheredAttention;
  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  template <int R, int C> using Acc = typename M::template Acc<R, C>;
  using Rows = typename M::template Rows<kHeads>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor q, cache, table, valid, out;
    float scale = 0.1f, slack = 0;
  };
  struct Stage {
    Tile<uint8_t, kKeys, kRecord> raw;
    Tile<Bf16, kKeys, kDim> kv;
  };
  struct Fixed {
    Tile<Bf16, kHeads, kDim> q;
  };
  struct Scores {
    Acc<kHeads, kKeys> dots;
  };
  struct Board {
    Tile<Bf16, kHeads, kKeys> weights;
    Tile<float, kHeads, 1> max, fade, mass;
  };
  struct State {
    Acc<kHeads, kLatent> out;
    Rows sum;
  };
  struct Task {
    Args a;
    int row, token, keys, trips;
  };

  static int tasks(const Args& a) { return int(a.q.rows()) / kHeads; }
  static Task task(M& m, const Args& a, int n) {
    const int keys = m.read(a.valid, 0, n);
    return {a, n * kHeads, n, keys, std::max(1, (keys + kKeys - 1) / kKeys)};
  }
  static void prepare(M& m, const Task& t, Fixed& f) { m.load(f.q, t.a.q, t.row, 0); }
  static void load(M& m, const Task& t, int step, Stage& s) {
    m.gather(s.raw, t.a.cache, 0, t.a.table, t.token, step * kKeys);
  }
  static void convert(M& m, const Task&, int, Stage& s) {
    m.dequantise(columns<kLatent>(s.kv, 0), as<E4m3, kLatent>(s.raw, 0),
                 as<float, 1>(s.raw, kLatent), 128);
    m.cast(columns<kRope>(s.kv, kLatent), as<Bf16, kRope>(s.raw, kLatent + 4));
  }
  static void begin(M& m, const Task&, State& st) {
    m.fill(st.out, 0.f);
    m.fill(st.sum, 0.f);
  }
  template <int kFrom, int kTo>
  static void score(M& m, const Task&, Fixed& f, Stage& s, Scores& sc) {
    m.mma_abt(sc.dots, columns<kTo - kFrom>(f.q, kFrom), columns<kTo - kFrom>(s.kv, kFrom),
              kFrom > 0);
  }
  static void weigh(M& m, const Task& t, int step, Scores& sc, const Board& before, Board& b) {
    Rows max, fade, mass;
    if (step == 0)
      m.fill(fade, -1e30f);
    else
      m.get(fade, before.max);
    m.keep_columns(sc.dots, t.keys - step * kKeys, -1e30f);
    m.raise_rows(max, fade, sc.dots, t.a.slack);
    m.exp2_rows(fade, fade, max, t.a.scale);
    m.exp2_rows(sc.dots, sc.dots, max, t.a.scale);
    m.sum_rows(mass, sc.dots);
    m.put(b.max, max);
    m.put(b.fade, fade);
    m.put(b.mass, mass);
    m.put(b.weights, sc.dots);
  }
  static void accumulate(M& m, const Task&, int, int, Stage& s, Board& b, State& st) {
    m.scale_rows(st.out, b.fade);
    m.scale_add(st.sum, b.fade, b.mass);
    m.mma_ab(st.out, b.weights, columns<kLatent>(s.kv, 0), true);
  }
  static void finish(M& m, const Task& t, int, Board&, State& st) {
    Tile<Bf16, kHeads, kLatent> out;
    m.divide_rows(st.out, st.sum);
    m.put(out, st.out);
    m.store(t.a.out, t.row, 0, out);
  }
};

// Scores of 64 keys a step against 32 E4M3 heads, their best 96, kept in memory too.
template <class M> struct SmallSelection {
  static constexpr int kKeys = 64, kHeads = 32, kKeep = 96;
  static constexpr const char* kName = "small_selection";
  using Pipeline = Selection;
  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor q, weights, keys, blocks, context, scores, positions, count;
    int tokens = 0;
  };
  struct Stage {
    Tile<E4m3, kKeys, 128> keys;
  };
  struct Fixed {
    Tile<E4m3, kHeads, 128> q;
    Tile<float, 1, kHeads> weights;
  };
  struct Scores {
    typename M::template Acc<kKeys, kHeads> dots;
  };
  struct Board {
    Tile<float, kKeys, 1> row;
  };
  struct State {
    typename M::template List<kKeep> best;
  };
  struct Task {
    Args a;
    int token, context, trips;
  };

  static int tasks(const Args& a) { return a.tokens; }
  static Task task(M& m, const Args& a, int n) {
    const int context = m.read(a.context, 0, n);
    return {a, n, context, (context + kKeys - 1) / kKeys};
  }
  static void prepare(M& m, const Task& t, Fixed& f) {
    m.load(f.q, t.a.q, t.token * kHeads, 0);
    m.load(f.weights, t.a.weights, t.token, 0);
  }
  static void begin(M& m, const Task&, State& st) {
    Tile<float, 1, 32> none;
    m.fill(none, 0.f);
    m.topk_block(st.best, none, 0, 0);
  }
  static void load(M& m, const Task& t, int step, Stage& s) {
    m.gather_pages(s.keys, t.a.keys, 0, t.a.blocks, t.token, step);
  }
  static void score(M& m, const Task&, int, Fixed& f, Stage& s, Scores& sc) {
    m.mma_abt(sc.dots, s.keys, f.q, false);
  }
  static void weigh(M& m, const Task& t, int step, Fixed& f, Stage&, Scores& sc, Board& b) {
    m.act(sc.dots, sc.dots, isa::Function::relu, 1.f);
    m.scale_columns(sc.dots, f.weights);
    Tile<float, kKeys, 1> row;
    m.sum_rows(row, sc.dots);
    m.put(b.row, row);
    m.store(t.a.scores, t.token * 512 + step * kKeys, 0, row);
  }
  static void select(M& m, const Task& t, int step, Stage&, Board& b, State& st) {
    typename M::template List<kKeep> more;
    m.topk_more(st.best, more, b.row, step * kKeys, t.context - step * kKeys);
  }
  static void finish(M& m, const Task& t, State& st) {
    Tile<int32_t, 1, kKeep> chosen;
    Tile<int32_t, 1, 1> count;
    m.extract(chosen, count, st.best);
    m.store(t.a.positions, t.token, 0, chosen);
    m.store(t.a.count, 0, t.token, count);
  }
};

// Every row scaled, kept in a scratch tensor, loaded again one step later and doubled in place:
// memory hazards within a task. `trips` steps of 8 rows.
template <class M> struct SmallRows {
  static constexpr const char* kName = "small_rows";
  using Pipeline = Rowwise;
  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor in, middle, out, slots;
    int tokens = 0, trips = 0;
  };
  struct Stage {
    Tile<float, 8, 32> x;
  };
  struct Fixed {
    Tile<float, 1, 32> factor;
  };
  struct State {
    Tile<float, 8, 32> last;
  };
  struct Result {
    Tile<float, 8, 32> y;
  };
  struct Task {
    Args a;
    int row, trips;
  };

  static int tasks(const Args& a) { return a.tokens; }
  static Task task(M&, const Args& a, int n) { return {a, n * a.trips * 8, a.trips}; }
  static void prepare(M& m, const Task& t, Fixed& f) { m.load(f.factor, t.a.in, t.row, 0); }
  static void begin(M& m, const Task&, State& st) { m.fill(st.last, 1.f); }
  static void load(M& m, const Task& t, int step, Stage& s) {
    m.load(s.x, t.a.in, t.row + step * 8, 0);
  }
  static void compute(M& m, const Task& t, int step, Fixed& f, Stage& s, State& st, Result& r) {
    m.scale_columns(s.x, f.factor);
    m.add(st.last, st.last, s.x);
    m.store(t.a.middle, t.row + step * 8, 0, st.last);
    Tile<float, 8, 32> again;
    m.load(again, t.a.middle, t.row + step * 8, 0);
    m.mul(r.y, again, s.x);
  }
  static void store(M& m, const Task& t, int step, Result& r) {
    m.store(t.a.out, t.row + step * 8, 0, r.y);
    m.scatter(t.a.middle, 32, r.y, t.a.slots, 0, t.row + step * 8);
    m.store(t.a.out, t.row + step * 8, 0, rows<4>(r.y, 4));  // over what was just stored
  }
  static void finish(M& m, const Task& t, State& st) { m.store(t.a.middle, t.row, 64, st.last); }
};

}  // namespace daybreak::testing
