// Element formats as the oracles see them (operators.md section 2): own tables and own rounding, made
// from the definitions and sharing nothing with ref/numeric, so that a bug there cannot hide itself.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace daybreak::ref {

float e4m3_value(uint8_t code);   // E4M3 FN; S.1111.111 is NaN
float bf16_value(uint16_t bits);
float e8m0_value(uint8_t byte);   // 2^(byte - 127); 0xFF is NaN
float e2m1_value(uint8_t code);   // low four bits

uint16_t nearest_bf16(float x);   // ties to even; NaN stays NaN, overflow gives inf
uint8_t nearest_e4m3(float x);    // ties to even, saturating at 448; NaN gives 0x7F

std::vector<float> bf16_values(std::span<const uint16_t> bits);
std::vector<float> e4m3_values(std::span<const uint8_t> codes);
std::vector<uint16_t> nearest_bf16(std::span<const double> x);  // each through fp32 first

}  // namespace daybreak::ref
