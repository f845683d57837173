// Scores as integers and as bins, both in the order of ref/ops/topk.hpp.
#pragma once
#include "kernels/machines/hopper/device.cuh"

namespace daybreak::kernels::hopper {

// Integers in the order of scores; score_of() turns them back. NaN lies outside of all.
DAYBREAK_DEVICE uint32_t key_of(float score) {
  const uint32_t bits = __float_as_uint(score + 0.f);
  return bits ^ (uint32_t(int32_t(bits) >> 31) | 0x80000000u);
}
DAYBREAK_DEVICE float score_of(uint32_t key) {
  return __uint_as_float(key & 0x80000000u ? key ^ 0x80000000u : ~key);
}

// The first bins: half-precision values, cut, by their sign, exponent and five bits of fraction.
struct CoarseBins {
  static constexpr int kBins = 2048, kCut = 5, kZero = kBins / 2;
  static constexpr int kFirst = 32, kLast = kBins - 2;  // outside: -inf and what is not a number
  static constexpr uint32_t kLargest = 0x7bff, kInfinity = 0x7c00;
  static constexpr uint32_t kLowest = 0x00800000;  // key of the most negative number
  // Of two scores, in the order of scores: 16 bits each, which kCut turns into bins.
  static DAYBREAK_DEVICE uint32_t halves(float low, float high) {
    uint32_t h;
    asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(h) : "f"(high), "f"(low));
    asm("add.rn.f16x2 %0, %0, %1;" : "+r"(h) : "r"(0));  // -0 becomes 0
    uint32_t signs;                                      // of either half, over its bits
    asm("prmt.b32 %0, %1, 0, 0xbb99;" : "=r"(signs) : "r"(h));
    return h ^ (signs | 0x80008000u);
  }
  // The lowest key of a bin; beyond the last bin, of what is not a number.
  static DAYBREAK_DEVICE uint32_t lowest(int bin) {
    const uint32_t h = uint32_t(bin) << kCut;
    if (bin > kZero) {
      const uint32_t half = h - 0x8000;
      return half > kInfinity ? 0xff800001u : key_of(value(half));
    }
    const uint32_t half = bin == kZero ? 0 : 0x7fff - h;  // the largest magnitude of the bin
    const uint32_t above = half >= kLargest ? 0x7f800000u : __float_as_uint(value(half + 1));
    return 0x7fffffffu - (above - 1);
  }

 private:
  static DAYBREAK_DEVICE float value(uint32_t half) {
    float x;
    asm("{.reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h;}" : "=f"(x) : "r"(half));
    return x;
  }
};

}  // namespace daybreak::kernels::hopper
