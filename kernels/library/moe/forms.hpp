// In which form an expert product takes its operands, and what becomes of its sums. A kernel is written
// once and takes both as traits.
#pragma once
#include "kernels/library/moe/layouts.hpp"
#include "kernels/tile/machine.hpp"

namespace daybreak::kernels::moe {

// Where the right operand of a product comes from: rows of (experts, rows, K) matrices.
template <class Tensor> struct Weights {
  Tensor values;
  Tensor
      scales;  // mxfp4: e8m0 (experts, rows, K / 32); fp8: f32 (experts, rows, groups); bf16: none
};

// Weights stay MXFP4 in memory; the DMA engine turns them into E4M3 on the way to the slot.
struct Mxfp4 {
  static constexpr const char* kWord = "mxfp4";
  static constexpr bool kScaled = true;
  using Left = E4m3;
  template <class M, int kRows, int kK> struct Slot {
    typename M::template Tile<E4m3, kRows, kK> values;
    typename M::template Tile<float, kRows, (kK + kGroup - 1) / kGroup> scales;
  };
  template <class M, class S, class Tensor>
  static void load(M& m, S& slot, const Weights<Tensor>& w, int segment, int row, int col) {
    m.stream_mxfp4(slot.values, slot.scales, m.plane(w.values, segment), m.plane(w.scales, segment),
                   row, col);
  }
};

// E4M3 codes with one fp32 scale per row and 128 columns, converted before they came to memory.
struct Fp8 {
  static constexpr const char* kWord = "fp8";
  static constexpr bool kScaled = true;
  using Left = E4m3;
  template <class M, int kRows, int kK> using Slot = Mxfp4::Slot<M, kRows, kK>;
  template <class M, class S, class Tensor>
  static void load(M& m, S& slot, const Weights<Tensor>& w, int segment, int row, int col) {
    m.load(slot.scales, m.plane(w.scales, segment), row, col / kGroup);
    m.load(slot.values, m.plane(w.values, segment), row, col);
  }
};

struct Plain {
  static constexpr const char* kWord = "bf16";
  static constexpr bool kScaled = false;
  using Left = Bf16;
  template <class M, int kRows, int kK> struct Slot {
    typename M::template Tile<Bf16, kRows, kK> values;
  };
  template <class M, class S, class Tensor>
  static void load(M& m, S& slot, const Weights<Tensor>& w, int segment, int row, int col) {
    m.load(slot.values, m.plane(w.values, segment), row, col);
  }
};

// What leaves a product: E4M3 codes with scales of a gated activation, its BF16 values, the sums as BF16,
// or the sums themselves.
enum class Leaves : uint8_t { gated_codes, gated_values, values, sums };
constexpr bool gated(Leaves l) { return l == Leaves::gated_codes || l == Leaves::gated_values; }

// Calls f.operator()<R>() with the smallest multiple of 16, at most kMost, that holds `rows`.
template <int kMost, class F> void with_rows(int rows, F&& f) {
  [&]<int... kStep>(std::integer_sequence<int, kStep...>) {
    const int steps = std::max((rows + kRowAlign - 1) / kRowAlign, 1);
    ((steps == kStep + 1 ? f.template operator()<(kStep + 1) * kRowAlign>() : void()), ...);
  }(std::make_integer_sequence<int, kMost / kRowAlign>());
}

}  // namespace daybreak::kernels::moe
