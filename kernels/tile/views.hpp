// Views of tiles: extent is a type, position a value. A view names its tile, never copies it; views
// of views accumulate. Every machine's tiles have Element, kRows and kCols, and that is all a view
// needs.
#pragma once
#include <type_traits>
#include <utility>

#include "kernels/tile/elements.hpp"

namespace daybreak::kernels {

// R x C elements of type T inside `tile`: `row` rows down and `byte` bytes to the right of its
// corner.
template <class Base, class T, int R, int C> struct View {
  using Element = T;
  static constexpr int kRows = R, kCols = C;
  Base& tile;
  int row = 0;
  int byte = 0;
};

template <class X> inline constexpr bool kIsView = false;
template <class B, class T, int R, int C> inline constexpr bool kIsView<View<B, T, R, C>> = true;

// Anything with an element type and a shape: tiles, accumulators, row vectors, lists, their views.
template <class X>
concept Shaped = requires {
  typename std::remove_cvref_t<X>::Element;
  { std::remove_cvref_t<X>::kRows } -> std::convertible_to<int>;
  { std::remove_cvref_t<X>::kCols } -> std::convertible_to<int>;
};

template <Shaped X> inline constexpr int kRowsOf = std::remove_cvref_t<X>::kRows;
template <Shaped X> inline constexpr int kColsOf = std::remove_cvref_t<X>::kCols;
template <Shaped X> using ElementOf = typename std::remove_cvref_t<X>::Element;

// T, R, C of the part of `x` that starts `row` rows down and `byte` bytes to the right.
template <class T, int R, int C, class X> DAYBREAK_BOTH auto view(X&& x, int row, int byte) {
  using Plain = std::remove_reference_t<X>;
  if constexpr (kIsView<std::remove_cv_t<Plain>>) {
    using Base = std::remove_reference_t<decltype((x.tile))>;
    return View<Base, T, R, C>{x.tile, x.row + row, x.byte + byte};
  } else {
    static_assert(std::is_lvalue_reference_v<X>, "a view outlives a temporary tile");
    return View<Plain, T, R, C>{x, row, byte};
  }
}

// N columns from `first` on.
template <int N, Shaped X> DAYBREAK_BOTH auto columns(X&& x, int first) {
  static_assert(N <= kColsOf<X>, "more columns than the tile has");
  return view<ElementOf<X>, kRowsOf<X>, N>(static_cast<X&&>(x), 0,
                                           first * int(sizeof(ElementOf<X>)));
}

// N rows from `first` on.
template <int N, Shaped X> DAYBREAK_BOTH auto rows(X&& x, int first) {
  static_assert(N <= kRowsOf<X>, "more rows than the tile has");
  return view<ElementOf<X>, N, kColsOf<X>>(static_cast<X&&>(x), first, 0);
}

// R x C elements, top left at (row, col).
template <int R, int C, Shaped X> DAYBREAK_BOTH auto part(X&& x, int row, int col) {
  static_assert(R <= kRowsOf<X> && C <= kColsOf<X>, "larger than the tile");
  return view<ElementOf<X>, R, C>(static_cast<X&&>(x), row, col * int(sizeof(ElementOf<X>)));
}

// The C elements of type T that start at a byte of every row: a field of a raw record.
template <class T, int C, Shaped X> DAYBREAK_BOTH auto as(X&& x, int byte) {
  static_assert(C * sizeof(T) <= kColsOf<X> * sizeof(ElementOf<X>), "wider than the record");
  return view<T, kRowsOf<X>, C>(static_cast<X&&>(x), 0, byte);
}

// f(constant 0), f(constant 1), ..., f(constant N - 1): a loop whose positions are known when it is
// compiled, as parts of what a target keeps in registers must be.
template <int N, class F> DAYBREAK_BOTH void repeat(F&& f) {
  [&]<int... kPart>(std::integer_sequence<int, kPart...>) {
    (f(std::integral_constant<int, kPart>{}), ...);
  }(std::make_integer_sequence<int, N>{});
}

}  // namespace daybreak::kernels
