// RMSNorm, LayerNorm and the Hadamard rotation (operators.md section 2), in double.
// Rows stand side by side: x is (rows, cols) with cols = weight.size(). Results are not rounded:
// pass them to nearest_bf16 where the operator stores BF16.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace daybreak::ref {

// x / sqrt(mean(x^2) + epsilon) * weight.
std::vector<double> rms_norm(std::span<const float> x, std::span<const float> weight,
                             double epsilon);

// (x - mean) / sqrt(variance + epsilon) * weight + bias; the variance is the biased one.
std::vector<double> layer_norm(std::span<const float> x, std::span<const float> weight,
                               std::span<const float> bias, double epsilon);

// Each row of n elements times the Sylvester Hadamard matrix over sqrt(n); n a power of two.
std::vector<double> hadamard(std::span<const float> x, int64_t n);

}  // namespace daybreak::ref
