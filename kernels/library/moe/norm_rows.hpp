// RMSNorm of BF16 rows: the combined latents of an expert layer with a latent width before they go back
// to the model's. One task = 16 rows.
#pragma once
#include "kernels/library/moe/layouts.hpp"
#include "kernels/tile/machine.hpp"
#include "kernels/tile/rowwise.hpp"

namespace daybreak::kernels {

template <class M, int kCols> struct NormRowsOf {
  using Pipeline = Rowwise;
  static constexpr const char* kName = "norm_rows";
  static constexpr int kRows = 16;

  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor x;       // (rows, kCols) bf16
    Tensor weight;  // (1, kCols) f32
    Tensor y;       // (rows, kCols) bf16
    int rows = 0;
    float epsilon = 1e-6f;
  };
  struct Stage {
    Tile<Bf16, kRows, kCols> x;
  };
  struct Fixed {
    Tile<float, 1, kCols> weight;
  };
  struct State {};
  struct Result {
    Tile<Bf16, kRows, kCols> y;
  };
  struct Task {
    Args a;
    int row, trips;
  };

  static int tasks(const Args& a) { return int(moe::ceil_div(a.rows, kRows)); }
  static Task task(M&, const Args& a, int number) { return {a, number * kRows, 1}; }
  static void prepare(M& m, const Task& t, Fixed& f) { m.load(f.weight, t.a.weight, 0, 0); }
  static void load(M& m, const Task& t, int, Stage& s) { m.load(s.x, t.a.x, t.row, 0); }
  static void compute(M& m, const Task& t, int, Fixed& f, Stage& s, State&, Result& r) {
    m.norm_rows(r.y, s.x, f.weight, t.a.epsilon);
  }
  static void store(M& m, const Task& t, int, Result& r) { m.store(t.a.y, t.row, 0, r.y); }
};

template <int kCols> struct NormRowsKernel {
  template <class M> using On = NormRowsOf<M, kCols>;
};

}  // namespace daybreak::kernels
