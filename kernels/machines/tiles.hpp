// Tiles of the machines that work on isa::TileRef (Host and Record): a tile asks the current
// machine for its region when it is made and hands it back when it goes out of scope.
#pragma once
#include <cstdint>

#include "isa/program/tile.hpp"
#include "kernels/tile/views.hpp"

namespace daybreak::kernels {

template <class T> inline constexpr Format kFormatOf = Format::f32;
template <> inline constexpr Format kFormatOf<Bf16> = Format::bf16;
template <> inline constexpr Format kFormatOf<F16> = Format::f16;
template <> inline constexpr Format kFormatOf<E4m3> = Format::e4m3;
template <> inline constexpr Format kFormatOf<int32_t> = Format::i32;
template <> inline constexpr Format kFormatOf<uint8_t> = Format::u8;
template <> inline constexpr Format kFormatOf<Ranked> = Format::record;

enum class TileKind : uint8_t { tile, accumulator };

template <class Machine, class T, int R, int C, TileKind kKind> class MachineTile {
 public:
  using Element = T;
  static constexpr int kRows = R, kCols = C;
  static constexpr TileKind kTileKind = kKind;

  MachineTile() : ref_(Machine::current().create(shape())) {}
  explicit MachineTile(Machine&) : MachineTile() {}
  ~MachineTile() { Machine::current().destroy(ref_.id); }
  MachineTile(const MachineTile&) = delete;
  MachineTile& operator=(const MachineTile&) = delete;

  const isa::TileRef& ref() const { return ref_; }

 private:
  static constexpr isa::TileRef shape() {
    return {.space = kKind == TileKind::accumulator ? isa::Space::accumulator : isa::Space::vector,
            .format = kFormatOf<T>,
            .pitch = uint32_t(C * sizeof(T)),
            .rows = R,
            .cols = C};
  }
  isa::TileRef ref_;
};

// The region of a tile or of a view of one.
template <class X> isa::TileRef ref_of(const X& x) {
  if constexpr (kIsView<X>) {
    isa::TileRef r = x.tile.ref();
    r.offset += uint32_t(x.row) * r.pitch + uint32_t(x.byte);
    r.format = kFormatOf<typename X::Element>;
    r.rows = X::kRows;
    r.cols = X::kCols;
    return r;
  } else {
    return x.ref();
  }
}

}  // namespace daybreak::kernels
