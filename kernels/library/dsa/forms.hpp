// The two forms in which caches keep their rows: E4M3 with fp32 scales, or plain BF16. A kernel is
// written once and takes the form as a trait.
#pragma once
#include "kernels/library/dsa/layouts.hpp"
#include "kernels/tile/machine.hpp"

namespace daybreak::kernels::dsa {

// 8448-byte index-key pages and 656-byte latent records.
struct Fp8 {
  static constexpr const char* kAttention = "sparse_mla";
  static constexpr bool kQuantised = true;
  using Code = E4m3;  // element of index queries and keys
  static constexpr int kRopeByte = kRopeBytes;

  template <class M> using Record = typename M::template Tile<uint8_t, 1, kRecordBytes>;

  template <class M, int kRows>
  struct Rows {  // gathered latents: the raw record, and what attention uses
    [[no_unique_address]] typename M::template Tile<uint8_t, kRows, kRecordBytes> raw;
    typename M::template Tile<Bf16, kRows, kDim> kv;
  };
  template <class S> static DAYBREAK_DEVICE auto& landing(S& s) { return s.raw; }
  template <class M, class S> static DAYBREAK_DEVICE void convert(M& m, S& s) {
    m.dequantise(columns<kLatent>(s.kv, 0), as<E4m3, kLatent>(s.raw, 0),
                 as<float, kLatent / kGroup>(s.raw, kScaleBytes), kGroup);
    m.cast(columns<kRope>(s.kv, kLatent), as<Bf16, kRope>(s.raw, kRopeBytes));
  }
};

// Rows of 128 and of 576 BF16 values.
struct Plain {
  static constexpr const char* kAttention = "sparse_mla";
  static constexpr bool kQuantised = false;
  using Code = Bf16;
  static constexpr int kRopeByte = kLatent * 2;

  template <class M> using Record = typename M::template Tile<Bf16, 1, kDim>;

  template <class M, int kRows> struct Rows {
    typename M::template Tile<Bf16, kRows, kDim> kv;
  };
  template <class S> static DAYBREAK_DEVICE auto& landing(S& s) { return s.kv; }
  template <class M, class S> static DAYBREAK_DEVICE void convert(M&, S&) {}
};

}  // namespace daybreak::kernels::dsa
