// Tiles of the matrix machine that live in registers: accumulators, rows of values, locals. Of 64
// rows x C columns thread t holds rows t / 32 * 16 + t % 32 / 4 (+ 8), and columns t % 4 * 2 (+ 1)
// of every eight. With one column each of the four threads of a row holds the row's value.
#pragma once
#include <type_traits>

#include "kernels/machines/hopper/shared_tile.cuh"

namespace daybreak::kernels::hopper {

// Values are fp32; T is what a store makes of them. Rows go round `kGroups` warpgroups.
template <class T, int R, int C, int kGroups> struct Fragment {
  static_assert(R == 64 * kGroups, "a warpgroup holds 64 rows");
  using Element = T;
  static constexpr int kRows = R, kCols = C, kValues = C == 1 ? 2 : C / 2;
  float value[kValues];

  Fragment() = default;
  template <class M> explicit DAYBREAK_DEVICE Fragment(M&) {}
};

// f(value, row half, column) for every value. Columns count from this thread's first.
template <class T, int R, int C, int kGroups, class F>
DAYBREAK_DEVICE void each(Fragment<T, R, C, kGroups>& x, F f) {
  if constexpr (C == 1) {
    f(x.value[0], 0, 0);
    f(x.value[1], 1, 0);
  } else {
#pragma unroll
    for (int i = 0; i < C / 2; ++i) f(x.value[i], i / 2 % 2, i / 4 * 8 + i % 2);
  }
}
// f(d, a, b) for every value of fragments of one column.
template <int R, int kGroups, class F>
DAYBREAK_DEVICE void each(Fragment<float, R, 1, kGroups>& d,
                          const Fragment<float, R, 1, kGroups>& a,
                          const Fragment<float, R, 1, kGroups>& b, F f) {
  for (int i = 0; i < 2; ++i) f(d.value[i], a.value[i], b.value[i]);
}

// y = f(x), x a fragment or some of its columns.
template <class Y, class X, class F> DAYBREAK_DEVICE void assign(Y& y, const X& x, F f) {
  static_assert(Y::kRows == X::kRows && Y::kCols == X::kCols);
  if constexpr (kIsView<X>) {
    const int first = x.byte / 4 / 8 * 4;  // registers come in fours for every eight columns
#pragma unroll
    for (int i = 0; i < Y::kValues; ++i) y.value[i] = f(x.tile.value[first + i]);
  } else {
#pragma unroll
    for (int i = 0; i < Y::kValues; ++i) y.value[i] = f(x.value[i]);
  }
}

// Reduces each row: four short chains of dependent instructions, not a long one, then the four
// threads of a row.
template <int R, int C, int kGroups, class F, class Across>
DAYBREAK_DEVICE void reduce_rows(Fragment<float, R, 1, kGroups>& to,
                                 const Fragment<float, R, C, kGroups>& x, F f, Across across) {
  static_assert(C >= 16);
  float part[2][4];
#pragma unroll
  for (int i = 0; i < C / 2; ++i) {
    float& p = part[i / 2 % 2][i / 4 % 2 * 2 + i % 2];
    p = i < 8 ? x.value[i] : f(p, x.value[i]);
  }
  for (int r = 0; r < 2; ++r)
    to.value[r] = across(f(f(part[r][0], part[r][1]), f(part[r][2], part[r][3])));
}

}  // namespace daybreak::kernels::hopper
