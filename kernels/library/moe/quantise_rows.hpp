// Rows of BF16 values to E4M3 codes with one scale per 128 columns (operators.md section 2, act_quant).
// One task = 16 rows.
#pragma once
#include "kernels/library/moe/layouts.hpp"
#include "kernels/tile/machine.hpp"
#include "kernels/tile/rowwise.hpp"

namespace daybreak::kernels {

template <class M> struct QuantiseRows {
  using Pipeline = Rowwise;
  static constexpr const char* kName = "quantise_rows";
  static constexpr int kRows = 16, kCols = 1024, kGroups = kCols / moe::kGroup;

  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor x;       // (rows, cols) bf16
    Tensor codes;   // (rows, cols) e4m3
    Tensor scales;  // (rows, groups) f32
    int rows = 0, cols = 0;
    bool power_of_two = true;
  };
  struct Stage {
    Tile<Bf16, kRows, kCols> x;
  };
  struct Fixed {};
  struct State {};
  struct Result {
    Tile<E4m3, kRows, kCols> codes;
    Tile<float, kRows, kGroups> scales;
  };
  struct Task {
    Args a;
    int row, trips;
  };

  static int tasks(const Args& a) { return int(moe::ceil_div(a.rows, kRows)); }
  static Task task(M&, const Args& a, int number) {
    return {a, number * kRows, int(moe::ceil_div(a.cols, kCols))};
  }
  static void load(M& m, const Task& t, int step, Stage& s) {
    m.load(s.x, t.a.x, t.row, step * kCols);
  }
  static void compute(M& m, const Task& t, int, Fixed&, Stage& s, State&, Result& r) {
    m.quantise(r.codes, r.scales, s.x, moe::kGroup, t.a.power_of_two);
  }
  static void store(M& m, const Task& t, int step, Result& r) {
    m.store(t.a.codes, t.row, step * kCols, r.codes);
    m.store(t.a.scales, t.row, step * kGroups, r.scales);
  }
};

}  // namespace daybreak::kernels
