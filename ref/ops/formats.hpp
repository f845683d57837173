// Element formats as the oracles see them (operators.md section 2): own tables and own rounding,
// made from the definitions and sharing nothing with ref/numeric, so that a bug there cannot hide
// itself.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace daybreak::ref {

extern const std::array<float, 256> kE4m3Values;

// E4M3 FN; S.1111.111 is NaN.
inline float e4m3_value(uint8_t code) { return kE4m3Values[code]; }
// BF16 is the upper half of an fp32.
inline float bf16_value(uint16_t bits) { return std::bit_cast<float>(bits * 65536u); }
float e8m0_value(uint8_t byte);  // 2^(byte - 127); 0xFF is NaN
float e2m1_value(uint8_t code);  // low four bits

// Ties to even; NaN stays NaN, overflow gives inf.
inline uint16_t nearest_bf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t kept = bits / 65536, rest = bits % 65536;
  const uint32_t up = (rest > 32768) | ((rest == 32768) & kept);
  return uint16_t(x != x ? kept | 0x40 : kept + up);
}
uint8_t nearest_e4m3(float x);  // ties to even, saturating at 448; NaN gives 0x7F

std::vector<float> bf16_values(std::span<const uint16_t> bits);
std::vector<float> e4m3_values(std::span<const uint8_t> codes);
std::vector<uint16_t> nearest_bf16(std::span<const double> x);  // each through fp32 first

}  // namespace daybreak::ref
