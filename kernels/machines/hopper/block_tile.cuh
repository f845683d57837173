// Tiles of the block machine: packed rows in shared memory. Those of lifetimes are storage that the
// pipeline places; a local takes its bytes from the machine's scratch while it lives.
#pragma once
#include "kernels/machines/hopper/device.cuh"
#include "kernels/tile/views.hpp"

namespace daybreak::kernels::hopper {

template <class T, int R, int C> struct alignas(16) BlockTile {
  using Element = T;
  static constexpr int kRows = R, kCols = C;
  T value[R * C];
  DAYBREAK_DEVICE uint8_t* bytes() { return reinterpret_cast<uint8_t*>(value); }
  DAYBREAK_DEVICE const uint8_t* bytes() const { return reinterpret_cast<const uint8_t*>(value); }
};

template <class M, class T, int R, int C> class BlockLocal {
 public:
  using Element = T;
  static constexpr int kRows = R, kCols = C;
  explicit DAYBREAK_DEVICE BlockLocal(M& m) : m_(m), bytes_(m.claim(kBytes)) {}
  DAYBREAK_DEVICE ~BlockLocal() { m_.give_back(kBytes); }
  BlockLocal(const BlockLocal&) = delete;
  DAYBREAK_DEVICE uint8_t* bytes() const { return bytes_; }

 private:
  static constexpr int kBytes = (R * C * int(sizeof(T)) + 15) / 16 * 16;
  M& m_;
  uint8_t* bytes_;
};

// Element (row, col) of a tile or of a view of one.
template <class X> DAYBREAK_DEVICE auto* element(const X& x, int row, int col) {
  using T = typename X::Element;
  if constexpr (kIsView<X>) {
    using Base = std::remove_cvref_t<decltype(x.tile)>;
    constexpr int kPitch = Base::kCols * sizeof(typename Base::Element);
    auto* at = const_cast<uint8_t*>(x.tile.bytes()) + (x.row + row) * kPitch + x.byte;
    return reinterpret_cast<T*>(at) + col;
  } else {
    return reinterpret_cast<T*>(const_cast<uint8_t*>(x.bytes())) + row * X::kCols + col;
  }
}
template <class X> DAYBREAK_DEVICE float value_of(const X& x, int row, int col) {
  return to_float(*element(x, row, col));
}
DAYBREAK_DEVICE void assign(float* to, float x) { *to = x; }
DAYBREAK_DEVICE void assign(Bf16* to, float x) { *to = to_bf16(x); }
DAYBREAK_DEVICE void assign(E4m3* to, float x) { *to = to_e4m3(x); }

}  // namespace daybreak::kernels::hopper
