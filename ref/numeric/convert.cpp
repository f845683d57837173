// Conversions on the bit patterns. Encoders are branch-free so that the bulk loops vectorise; the
// one-element forms call the same code.
#include "ref/numeric/convert.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace daybreak::numeric {
namespace {

constexpr uint32_t kMagnitude = 0x7FFFFFFF;
constexpr uint32_t kInfinity = 0x7F800000;
constexpr std::array<float, 8> kE2m1 = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};

// Normal codes: round the 23-bit fraction to 3 bits, carry included, and move the bias from 127
// to 7. Below 2^-6: adding 16384, whose unit in the last place is 2^-9, leaves the rounded count of
// subnormal steps in the low bits (8 of them are the smallest normal code).
inline uint32_t e4m3_code(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t magnitude = bits & kMagnitude;
  const uint32_t rounded = (magnitude + 0x7FFFF + ((magnitude >> 20) & 1)) >> 20;
  const uint32_t normal = std::min<uint32_t>(rounded - (120u << 3), 0x7E);
  const float shifted = std::bit_cast<float>(magnitude) + 16384.0f;
  const uint32_t subnormal = std::bit_cast<uint32_t>(shifted) & 0xF;
  const uint32_t code = magnitude < 0x3C800000 ? subnormal : normal;
  const uint32_t sign = (bits >> 24) & 0x80;
  return magnitude > kInfinity ? 0x7F : code | sign;
}

inline uint32_t bf16_code(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return (bits & kMagnitude) > kInfinity ? (bits >> 16) | 0x40 : rounded;
}

constexpr std::array<float, 256> e4m3_table() {
  std::array<float, 256> table{};
  for (int code = 0; code < 256; ++code) {
    const int exponent = (code >> 3) & 15, fraction = code & 7;
    const uint32_t sign = uint32_t(code & 0x80) << 24;
    uint32_t bits = uint32_t(exponent + 120) << 23 | uint32_t(fraction) << 20;
    if (exponent == 0) bits = std::bit_cast<uint32_t>(float(fraction) / 512);
    if ((code & 0x7F) == 0x7F) bits = 0x7FC00000;
    table[code] = std::bit_cast<float>(bits | sign);
  }
  return table;
}
constexpr std::array<float, 256> kE4m3 = e4m3_table();

}  // namespace

uint16_t encode_bf16(float x) { return uint16_t(bf16_code(x)); }
float decode_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
uint8_t encode_e4m3(float x) { return uint8_t(e4m3_code(x)); }
float decode_e4m3(uint8_t code) { return kE4m3[code]; }

uint8_t encode_e2m1(float x) {
  if (std::isnan(x)) return 7;
  const float a = std::fabs(x);
  // Half-way points between neighbours; those with an even upper neighbour round up.
  const int code = (a > 0.25f) + (a >= 0.75f) + (a > 1.25f) + (a >= 1.75f) + (a > 2.5f) +
                   (a >= 3.5f) + (a > 5.0f);
  return uint8_t(code | (std::signbit(x) ? 8 : 0));
}

float decode_e2m1(uint8_t code) {
  const float magnitude = kE2m1[code & 7];
  return code & 8 ? -magnitude : magnitude;
}

uint8_t encode_e8m0_ceil(float x) {
  const uint32_t magnitude = std::bit_cast<uint32_t>(x) & kMagnitude;
  if (magnitude > kInfinity) return 0xFF;
  if (magnitude <= 0x00400000) return 0;  // 2^-127 is the fp32 subnormal 0x00400000
  const uint32_t exponent = (magnitude >> 23) + ((magnitude & 0x7FFFFF) != 0);
  return uint8_t(std::min<uint32_t>(exponent, 0xFE));
}

float decode_e8m0(uint8_t byte) {
  if (byte == 0) return std::bit_cast<float>(uint32_t(0x00400000));
  if (byte == 0xFF) return std::bit_cast<float>(uint32_t(0x7FC00000));
  return std::bit_cast<float>(uint32_t(byte) << 23);
}

uint8_t shift_e2m1_to_e4m3(uint8_t code, int d) {
  return encode_e4m3(std::ldexp(decode_e2m1(code), std::clamp(d, -100, 100)));
}

void decode_bf16(std::span<const uint16_t> from, float* to) {
  for (size_t i = 0; i < from.size(); ++i) to[i] = decode_bf16(from[i]);
}

void encode_bf16(std::span<const float> from, uint16_t* to) {
  for (size_t i = 0; i < from.size(); ++i) to[i] = uint16_t(bf16_code(from[i]));
}

void decode_e4m3(std::span<const uint8_t> from, float* to) {
  for (size_t i = 0; i < from.size(); ++i) to[i] = kE4m3[from[i]];
}

void encode_e4m3(std::span<const float> from, uint8_t* to) {
  // Compilers know no aliasing between float and uint8_t, so codes go through a block of their own.
  constexpr size_t kBlock = 64;
  uint8_t block[kBlock];
  size_t i = 0;
  for (; i + kBlock <= from.size(); i += kBlock) {
    for (size_t j = 0; j < kBlock; ++j) block[j] = uint8_t(e4m3_code(from[i + j]));
    std::copy_n(block, kBlock, to + i);
  }
  for (; i < from.size(); ++i) to[i] = uint8_t(e4m3_code(from[i]));
}

}  // namespace daybreak::numeric
