// Joins the splits of sparse MLA: out = sum of 2^((lse_i - max) log2 e) out_i over the splits of a
// row, normalised; the sink, if any, is one more term without a value. One task = some heads of a
// token. (spec/operators.md section 4, split-KV combine)
#pragma once
#include <limits>

#include "kernels/library/dsa/layouts.hpp"
#include "kernels/tile/rowwise.hpp"

namespace daybreak::kernels {

// kHeads: heads of a task.
template <class M, int kHeads = 16> struct MlaCombineOf {
  using Pipeline = Rowwise;
  static constexpr const char* kName = "mla_combine";
  static constexpr int kLatent = dsa::kLatent;

  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  using Rows = typename M::template Rows<kHeads>;
  using LocalRows = typename M::template Local<float, kHeads, 1>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor partial_out;  // (splits * tokens * heads, 512) f32
    Tensor partial_lse;  // (splits * tokens * heads, 1) f32; -1e30: no key in that split
    Tensor valid;        // (1, tokens) i32
    Tensor sinks;        // (heads, 1) f32; read if has_sink
    Tensor out;          // (tokens * heads, 512) bf16
    Tensor lse;          // (tokens * heads, 1) f32, without the sink; +inf without a key
    int tokens = 0, heads = dsa::kHeadTile, splits = 1;
    bool has_sink = false;
  };
  struct Stage {
    Tile<float, kHeads, kLatent> out;
    Tile<float, kHeads, 1> lse;
  };
  struct Fixed {};
  struct State {
    Tile<float, kHeads, kLatent> out;
    Rows max, sum;
  };
  struct Result {};

  struct Task {
    Args a;
    int row, head, trips;
  };

  static DAYBREAK_BOTH int tasks(const Args& a) { return a.tokens * (a.heads / kHeads); }
  static DAYBREAK_DEVICE Task task(M& m, const Args& a, int number) {
    const int row = number * kHeads;
    return {a, row, row % a.heads, m.read(a.valid, 0, row / a.heads) > 0 ? a.splits : 0};
  }

  static DAYBREAK_DEVICE void load(M& m, const Task& t, int step, Stage& s) {
    const int row = step * t.a.tokens * t.a.heads + t.row;
    m.load(s.out, t.a.partial_out, row, 0);
    m.load(s.lse, t.a.partial_lse, row, 0);
  }

  static DAYBREAK_DEVICE void begin(M& m, const Task& t, State& st) {
    if (t.trips == 0) return;
    m.fill(st.max, -1e30f);
    m.fill(st.sum, 0.f);
    m.fill(st.out, 0.f);
  }

  static DAYBREAK_DEVICE void compute(M& m, const Task&, int, Fixed&, Stage& s, State& st,
                                      Result&) {
    LocalRows max(m), fade(m), weight(m);
    m.raise_rows(max, st.max, s.lse, 0.f);
    m.exp2_rows(fade, st.max, max, dsa::kLog2e);
    m.exp2_rows(weight, s.lse, max, dsa::kLog2e);
    m.scale_rows(st.out, fade);
    m.scale_rows(s.out, weight);
    m.add(st.out, st.out, s.out);  // (heads, 512)
    m.scale_add(st.sum, fade, weight);
    m.cast(st.max, max);
  }

  static DAYBREAK_DEVICE void finish(M& m, const Task& t, State& st) {
    LocalRows lse(m);
    typename M::template Local<Bf16, kHeads, kLatent> out(m);
    if (t.trips > 0) {
      m.log2_rows(lse, st.max, st.sum, dsa::kLog2e);
      if (t.a.has_sink) {
        LocalRows sink(m);
        m.load(sink, t.a.sinks, t.head, 0);
        m.exp2_rows(sink, sink, st.max, dsa::kLog2e);
        m.add(st.sum, st.sum, sink);
      }
      m.divide_rows(st.out, st.sum);
      m.cast(out, st.out);
    } else {
      m.fill(lse, std::numeric_limits<float>::infinity());
      m.fill(out, 0.f);
    }
    m.store(t.a.lse, t.row, 0, lse);
    m.store(t.a.out, t.row, 0, out);
  }
};

template <class M> using MlaCombine = MlaCombineOf<M>;

}  // namespace daybreak::kernels
