// One expert's feed-forward network (operators.md section 5): y = down(act(gate x, up x)).
//   FP8 operands: x and the activation are quantised per token and 128 columns; each group of 128
//   products is exact in double, rounded to fp32, times (scale of x * scale of w), added in fp32.
//   BF16 weights: both stay BF16; groups of 64 products.
// The activation is computed on the fp32 sums and rounded to BF16; so is y.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ref/ops/bytes.hpp"
#include "ref/ops/mxfp4.hpp"
#include "ref/ops/quantise.hpp"

namespace daybreak::ref {

enum class WeightForm : uint8_t {
  mxfp4,  // codes (rows, cols / 2 bytes), E8M0 bytes (rows, ceil(cols / 32))
  fp8,    // E4M3 codes (rows, cols), fp32 scales (rows, ceil(cols / 128))
  bf16    // (rows, cols)
};

// A weight matrix somewhere in the bytes of its tensors.
struct WeightMatrix {
  WeightForm form = WeightForm::mxfp4;
  int64_t rows = 0, cols = 0;
  const ByteSource* values = nullptr;
  const ByteSource* scales = nullptr;  // none for bf16
  uint64_t values_at = 0, scales_at = 0;
  MxLayout layout = {};
};

// x (m, cols) times rows first, first + stride, ... (`count` of them), fp32 (m, count).
std::vector<float> weight_product(std::span<const float> x, const WeightMatrix& w, int64_t first,
                                  int64_t stride, int64_t count, ScaleForm activation_scales);

enum class ExpertActivation : uint8_t { silu, swiglu, situ };

struct Expert {
  WeightMatrix gate_up;  // 2 * inter rows: gates, then ups; or by turns if interleaved
  WeightMatrix down;     // (hidden, inter)
  bool interleaved = false;
  std::span<const float> gate_up_bias = {}, down_bias = {};  // (2 * inter) in row order, (hidden)
  ExpertActivation activation = ExpertActivation::silu;
  double factor = 1, limit = 0;  // operators.md section 5; limit 0 = none
  ScaleForm activation_scales = ScaleForm::ue8m0_ceil;
};

double gated(double gate, double up, ExpertActivation, double factor, double limit);

// x (tokens, hidden) of BF16 values; the result is BF16 values too.
std::vector<float> expert_output(std::span<const float> x, const Expert&);

}  // namespace daybreak::ref
