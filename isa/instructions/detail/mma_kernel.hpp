// The inner loop of the matrix unit: one chunk of the reduction.
#pragma once
#include <cstdint>

namespace daybreak::isa::detail {

// Panels of the packed operands. kRows x kCols accumulators of 4 doubles fill the 16 vector registers.
inline constexpr int kPanelRows = 6, kPanelCols = 8;

// acc[i][j] += fp32(sum over k, ascending, of a[k][i] * b[k][j]) for i < rows, j < cols. `a` is
// (depth, kPanelRows), `b` (depth, kPanelCols), both doubles that hold values of at most 24 bits of
// product, so that a fused multiply-add rounds exactly where a product and a sum would. Scales, if not
// null: the rounded sum is multiplied by row_scale[i] * col_scale[j] (kPanelCols of them) first.
void multiply_panel(const double* a, const double* b, int64_t depth, float* acc, int64_t acc_pitch,
                    int64_t rows, int64_t cols, const float* row_scale = nullptr,
                    const float* col_scale = nullptr);

}  // namespace daybreak::isa::detail
