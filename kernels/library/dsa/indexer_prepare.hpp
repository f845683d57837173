// Index query, key and weights of a new token: LayerNorm of the key, RoPE on the first 64 columns
// of key and queries, Hadamard rotation and quantisation per 128 columns; the key is appended to
// its page. Each step's result is rounded to BF16, as the operators store it. The BF16 form stops
// after RoPE. One task = one token; slot < 0 marks padding, of which nothing is read or written.
// (operators.md 3)
#pragma once
#include <cmath>

#include "kernels/library/dsa/forms.hpp"
#include "kernels/tile/rowwise.hpp"

namespace daybreak::kernels {

template <class M, int kHeads, class Form> struct IndexerPrepareOf {
  using Pipeline = Rowwise;
  static constexpr const char* kName = "indexer_prepare";
  static constexpr int kKey = dsa::kKey, kRope = dsa::kRope;
  using Code = typename Form::Code;

  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  template <class T, int R, int C> using Local = typename M::template Local<T, R, C>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor q_raw;         // (tokens * kHeads, 128) bf16, before RoPE; rows past the model's heads 0
    Tensor k_raw;         // (tokens, 128) bf16, before LayerNorm
    Tensor head_weights;  // (tokens * kHeads, 1) f32
    Tensor norm_weight;   // (1, 128) f32
    Tensor norm_bias;     // (1, 128) f32
    Tensor angles;        // (positions, 64) f32: cosines, then sines
    Tensor token_positions;  // (1, tokens) i32
    Tensor slots;            // (1, tokens) i32: row of the cache, < 0: padding
    Tensor q;                // (tokens * kHeads, 128) codes
    Tensor weights;          // (tokens * kHeads, 1) f32: w'
    Tensor keys;             // (pages, 64, 128) codes
    Tensor key_scales;       // (pages, 64, 1) f32; not written in the BF16 form
    int tokens = 0;
    int model_heads = kHeads;  // the heads that count for w'
    float epsilon = 1e-6f;
    bool interleaved = false, power_of_two = true;
  };
  struct Stage {
    Tile<Bf16, kHeads, kKey> q;
    Tile<Bf16, 1, kKey> k;
    Tile<float, kHeads, 1> weights;
    Tile<float, 1, kRope> angles;
  };
  struct Fixed {
    Tile<float, 1, kKey> norm_weight, norm_bias;
  };
  struct State {};
  struct Result {
    Tile<Code, kHeads, kKey> q;
    Tile<Code, 1, kKey> k;
    Tile<float, kHeads, 1> weights;
    Tile<float, 1, 1> k_scale;
  };
  struct Task {
    Args a;
    int token, trips;
  };

  static DAYBREAK_BOTH int tasks(const Args& a) { return a.tokens; }
  static DAYBREAK_DEVICE Task task(M& m, const Args& a, int number) {
    return {a, number, m.read(a.slots, 0, number) < 0 ? 0 : 1};
  }

  static DAYBREAK_DEVICE void prepare(M& m, const Task& t, Fixed& f) {
    if (t.trips == 0) return;
    m.load(f.norm_weight, t.a.norm_weight, 0, 0);
    m.load(f.norm_bias, t.a.norm_bias, 0, 0);
  }

  static DAYBREAK_DEVICE void load(M& m, const Task& t, int, Stage& s) {
    m.gather(s.angles, t.a.angles, 0, t.a.token_positions, 0, t.token);
    m.load(s.k, t.a.k_raw, t.token, 0);
    m.load(s.q, t.a.q_raw, t.token * kHeads, 0);
    m.load(s.weights, t.a.head_weights, t.token * kHeads, 0);
  }

  static DAYBREAK_DEVICE void compute(M& m, const Task& t, int, Fixed& f, Stage& s, State&,
                                      Result& r) {
    Local<Bf16, 1, kKey> normed(m);
    m.layer_norm_rows(normed, s.k, f.norm_weight, f.norm_bias, t.a.epsilon);
    m.act(r.weights, s.weights, isa::Function::copy, root(t.a.model_heads));
    if constexpr (Form::kQuantised) {
      Local<float, kHeads, 1> q_scales(m);
      encode(m, t, r.q, q_scales, s.q, s.angles);
      encode(m, t, r.k, r.k_scale, normed, s.angles);
      m.mul(r.weights, r.weights, q_scales);
    } else {
      rotate(m, t, r.q, s.q, s.angles);
      rotate(m, t, r.k, normed, s.angles);
    }
    m.act(r.weights, r.weights, isa::Function::copy, root(kKey));
  }

  static DAYBREAK_DEVICE void store(M& m, const Task& t, int, Result& r) {
    m.store(t.a.q, t.token * kHeads, 0, r.q);
    m.store(t.a.weights, t.token * kHeads, 0, r.weights);
    m.scatter(t.a.keys, 0, r.k, t.a.slots, 0, t.token);
    if constexpr (Form::kQuantised) m.scatter(t.a.key_scales, 0, r.k_scale, t.a.slots, 0, t.token);
  }

 private:
  static DAYBREAK_DEVICE float root(int n) { return float(1 / std::sqrt(double(n))); }

  template <class To, class From, class Angles>
  static DAYBREAK_DEVICE void rotate(M& m, const Task& t, To& to, From& x, Angles& angles) {
    m.rope(columns<kRope>(to, 0), columns<kRope>(x, 0), angles, t.a.interleaved);
    m.cast(columns<kKey - kRope>(to, kRope), columns<kKey - kRope>(x, kRope));
  }
  template <class To, class Scales, class From, class Angles>
  static DAYBREAK_DEVICE void encode(M& m, const Task& t, To& to, Scales& scales, From& x,
                                     Angles& angles) {
    Local<Bf16, From::kRows, kKey> rotated(m), mixed(m);
    rotate(m, t, rotated, x, angles);
    m.hadamard(mixed, rotated);
    m.quantise(to, scales, mixed, dsa::kGroup, t.a.power_of_two);
  }
};

template <int kHeads, class Form = dsa::Fp8> struct IndexerPrepare {
  template <class M> using On = IndexerPrepareOf<M, kHeads, Form>;
};

}  // namespace daybreak::kernels
