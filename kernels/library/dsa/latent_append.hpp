// The latent record of a new token: RMSNorm of the 512 latent columns, quantised per 128, and the
// 64 rotated columns in BF16, scattered to the token's slot as one record. The BF16 form keeps a
// row of 576. One task = one token; slot < 0 marks padding, of which nothing is read or written.
// (operators.md 4)
#pragma once
#include "kernels/library/dsa/forms.hpp"
#include "kernels/tile/rowwise.hpp"

namespace daybreak::kernels {

template <class M, class Form> struct LatentAppendOf {
  using Pipeline = Rowwise;
  static constexpr const char* kName = "latent_append";
  static constexpr int kLatent = dsa::kLatent, kRope = dsa::kRope;

  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor latent;           // (tokens, 512) bf16, before RMSNorm
    Tensor k_rope;           // (tokens, 64) bf16, before RoPE
    Tensor norm_weight;      // (1, 512) f32
    Tensor angles;           // (positions, 64) f32: cosines, then sines
    Tensor token_positions;  // (1, tokens) i32
    Tensor slots;            // (1, tokens) i32: row of the cache, < 0: padding
    Tensor cache;            // (pages, page tokens, 656) u8 or (.., 576) bf16
    int tokens = 0;
    float epsilon = 1e-6f;
    bool interleaved = true, power_of_two = true;
  };
  struct Stage {
    Tile<Bf16, 1, kLatent> latent;
    Tile<Bf16, 1, kRope> k_rope;
    Tile<float, 1, kRope> angles;
  };
  struct Fixed {
    Tile<float, 1, kLatent> norm_weight;
  };
  struct State {};
  struct Result {
    typename Form::template Record<M> record;
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
    if (t.trips > 0) m.load(f.norm_weight, t.a.norm_weight, 0, 0);
  }

  static DAYBREAK_DEVICE void load(M& m, const Task& t, int, Stage& s) {
    m.gather(s.angles, t.a.angles, 0, t.a.token_positions, 0, t.token);
    m.load(s.latent, t.a.latent, t.token, 0);
    m.load(s.k_rope, t.a.k_rope, t.token, 0);
  }

  static DAYBREAK_DEVICE void compute(M& m, const Task& t, int, Fixed& f, Stage& s, State&,
                                      Result& r) {
    if constexpr (Form::kQuantised) {
      typename M::template Local<Bf16, 1, kLatent> normed(m);
      m.norm_rows(normed, s.latent, f.norm_weight, t.a.epsilon);
      m.quantise(as<E4m3, kLatent>(r.record, 0),
                 as<float, kLatent / dsa::kGroup>(r.record, dsa::kScaleBytes), normed, dsa::kGroup,
                 t.a.power_of_two);
    } else {
      m.norm_rows(columns<kLatent>(r.record, 0), s.latent, f.norm_weight, t.a.epsilon);
    }
    m.rope(as<Bf16, kRope>(r.record, Form::kRopeByte), s.k_rope, s.angles, t.a.interleaved);
  }

  static DAYBREAK_DEVICE void store(M& m, const Task& t, int, Result& r) {
    m.scatter(t.a.cache, 0, r.record, t.a.slots, 0, t.token);
  }
};

template <class M> using LatentAppend = LatentAppendOf<M, dsa::Fp8>;
template <class M> using LatentAppendRows = LatentAppendOf<M, dsa::Plain>;

}  // namespace daybreak::kernels
