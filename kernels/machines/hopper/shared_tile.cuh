// Tiles of the matrix machine that live in shared memory: storage, in the layout wgmma reads. A
// struct of them is a lifetime, placed by its pipeline.
#pragma once
#include "kernels/machines/hopper/device.cuh"
#include "kernels/tile/views.hpp"

namespace daybreak::kernels::hopper {

template <class T, int R, int C> struct SharedTile;

// Panels of 64 columns: 128 bytes a row, chunks of 16 bytes permuted by the row (row % 8).
template <int R, int C> struct alignas(1024) SharedTile<Bf16, R, C> {
  static_assert(R % 8 == 0 && C % 64 == 0, "a panel is 8n x 64");
  using Element = Bf16;
  static constexpr int kRows = R, kCols = C, kPanels = C / 64, kPanelBytes = R * 128;
  uint8_t bytes[kPanels * kPanelBytes];
};
template <int R> struct alignas(1024) SharedTile<E4m3, R, 128> {
  static_assert(R % 64 == 0, "boxes of 64 rows fill it");
  using Element = E4m3;
  static constexpr int kRows = R, kCols = 128;
  uint8_t bytes[R * 128];
};
template <int R> struct alignas(16) SharedTile<float, R, 1> {
  using Element = float;
  static constexpr int kRows = R, kCols = 1;
  float value[R];
};
// Raw records never lie in shared memory (records.cuh).
template <int R, int C> struct SharedTile<uint8_t, R, C> {
  using Element = uint8_t;
  static constexpr int kRows = R, kCols = C;
};

// Where the rows of a tile, or of a view of whole rows, begin.
template <class X> DAYBREAK_DEVICE uint8_t* base_of(X& x) {
  if constexpr (kIsView<std::remove_cv_t<X>>)
    return reinterpret_cast<uint8_t*>(&x.tile) +
           x.row * int(X::kCols * sizeof(typename X::Element));
  else
    return reinterpret_cast<uint8_t*>(&x);
}

}  // namespace daybreak::kernels::hopper
