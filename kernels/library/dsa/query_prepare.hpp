// Queries of sparse MLA: RoPE on the last 64 of 576 columns; the absorbed latent part passes
// through. One task = 64 heads of one token; slot < 0 marks padding, of which nothing is read or
// written.
#pragma once
#include "kernels/library/dsa/layouts.hpp"
#include "kernels/tile/rowwise.hpp"

namespace daybreak::kernels {

template <class M> struct QueryPrepare {
  using Pipeline = Rowwise;
  static constexpr const char* kName = "query_prepare";
  static constexpr int kHeads = dsa::kHeadTile, kLatent = dsa::kLatent, kRope = dsa::kRope;

  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor q_raw;   // (tokens * heads, 576) bf16: absorbed latent part, then the part to rotate
    Tensor angles;  // (positions, 64) f32: cosines, then sines
    Tensor token_positions;          // (1, tokens) i32
    Tensor slots;                    // (1, tokens) i32, < 0: padding
    Tensor q;                        // (tokens * heads, 576) bf16
    int tokens = 0, heads = kHeads;  // heads: padded, a multiple of 64
    bool interleaved = true;
  };
  struct Stage {
    Tile<Bf16, kHeads, kLatent> latent;
    Tile<Bf16, kHeads, kRope> raw;
    Tile<float, 1, kRope> angles;
  };
  struct Fixed {};
  struct State {};
  struct Result {
    Tile<Bf16, kHeads, dsa::kDim> q;
  };
  struct Task {
    Args a;
    int token, row, trips;
  };

  static DAYBREAK_BOTH int tasks(const Args& a) { return a.tokens * (a.heads / kHeads); }
  static DAYBREAK_DEVICE Task task(M& m, const Args& a, int number) {
    const int row = number * kHeads, token = row / a.heads;
    return {a, token, row, m.read(a.slots, 0, token) < 0 ? 0 : 1};
  }

  static DAYBREAK_DEVICE void load(M& m, const Task& t, int, Stage& s) {
    m.gather(s.angles, t.a.angles, 0, t.a.token_positions, 0, t.token);
    m.load(s.raw, t.a.q_raw, t.row, kLatent);
    m.load(s.latent, t.a.q_raw, t.row, 0);
  }

  static DAYBREAK_DEVICE void compute(M& m, const Task& t, int, Fixed&, Stage& s, State&,
                                      Result& r) {
    m.cast(columns<kLatent>(r.q, 0), s.latent);
    m.rope(columns<kRope>(r.q, kLatent), s.raw, s.angles, t.a.interleaved);
  }

  static DAYBREAK_DEVICE void store(M& m, const Task& t, int, Result& r) {
    m.store(t.a.q, t.row, 0, r.q);
  }
};

}  // namespace daybreak::kernels
