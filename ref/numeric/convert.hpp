// Conversions between fp32 and the small formats, as spec/operators.md section 2 states them,
// checked on every row of tests/vectors. Shared by isa, the machines and the seeded inputs; ref/ops
// keeps its own decode tables so that a bug here cannot hide itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace daybreak::numeric {

// ---- one element -------------------------------------------------------------------------------
uint16_t encode_bf16(float x);  // round to nearest even; NaN stays NaN (quiet), inf stays inf
float decode_bf16(uint16_t bits);
uint8_t encode_e4m3(float x);     // RNE, saturating at 448 (inf too); NaN -> 0x7F
float decode_e4m3(uint8_t code);  // S.1111.111 is NaN
uint8_t encode_e2m1(float x);     // RNE, saturating at 6; NaN -> +6 (code 7)
float decode_e2m1(uint8_t code);  // low 4 bits
uint8_t encode_e8m0_ceil(
    float x);  // smallest power of two >= |x|; 0 -> 0x00, inf -> 0xFE, NaN -> 0xFF
float decode_e8m0(uint8_t byte);  // 2^(byte-127); 0xFF is NaN; 0x00 is 2^-127

// ---- many elements (vectorised; same results, element by element)
// --------------------------------
void decode_bf16(std::span<const uint16_t> from, float* to);
void encode_bf16(std::span<const float> from, uint16_t* to);
void decode_e4m3(std::span<const uint8_t> from, float* to);
void encode_e4m3(std::span<const float> from, uint8_t* to);

// ---- scales ----------------------------------------------------------------------------------
enum class ScaleRule : uint8_t {
  plain,      // max(amax, 1e-4) / 448, fp32
  ue8m0_ceil  // 2^ceil(log2(max(amax, 1e-4) / 448))
};
// Scale of one quantisation group whose largest magnitude is `amax` (operators.md section 2). NaN
// gives NaN, so a group with a NaN quantises to codes 0x7F throughout.
float scale_of(float amax, ScaleRule rule);

// E2M1 code times 2^d as E4M3, rounded and saturated like encode_e4m3 (operators.md section 9); the
// sign of zero is kept. Exact for every code iff -8 <= d <= 6.
uint8_t shift_e2m1_to_e4m3(uint8_t code, int d);

// Quantises `from` (one group): codes to `to`, returns the scale. y = encode_e4m3(clamp(x / s)).
float quantise_group(std::span<const float> from, ScaleRule rule, uint8_t* to);

}  // namespace daybreak::numeric
