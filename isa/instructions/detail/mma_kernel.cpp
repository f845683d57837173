#include "isa/instructions/detail/mma_kernel.hpp"

#include <immintrin.h>

#include <bit>

namespace daybreak::isa::detail {

void multiply_panel(const double* a, const double* b, int64_t depth, float* acc, int64_t acc_pitch,
                    int64_t rows, int64_t cols, const float* row_scale, const float* col_scale) {
  __m256d sum[kPanelRows][2];
  for (auto& row : sum) row[0] = row[1] = _mm256_setzero_pd();
  for (int64_t k = 0; k < depth; ++k) {
    const __m256d b0 = _mm256_loadu_pd(b + k * kPanelCols),
                  b1 = _mm256_loadu_pd(b + k * kPanelCols + 4);
#pragma GCC unroll 6
    for (int i = 0; i < kPanelRows; ++i) {
      const __m256d x = _mm256_broadcast_sd(a + k * kPanelRows + i);
      sum[i][0] = _mm256_fmadd_pd(x, b0, sum[i][0]);
      sum[i][1] = _mm256_fmadd_pd(x, b1, sum[i][1]);
    }
  }
  const __m256 nan = _mm256_set1_ps(std::bit_cast<float>(0x7FC00000u));
  for (int64_t i = 0; i < rows; ++i) {
    float* to = acc + i * acc_pitch;
    __m256 chunk = _mm256_set_m128(_mm256_cvtpd_ps(sum[i][1]), _mm256_cvtpd_ps(sum[i][0]));
    if (row_scale)
      chunk = _mm256_mul_ps(
          chunk, _mm256_mul_ps(_mm256_set1_ps(row_scale[i]), _mm256_loadu_ps(col_scale)));
    alignas(32) float edge[kPanelCols] = {};
    if (cols < kPanelCols)
      for (int64_t j = 0; j < cols; ++j) edge[j] = to[j];
    float* at = cols < kPanelCols ? edge : to;
    const __m256 total = _mm256_add_ps(_mm256_loadu_ps(at), chunk);
    const __m256 bad = _mm256_cmp_ps(total, total, _CMP_UNORD_Q);
    _mm256_storeu_ps(at, _mm256_blendv_ps(total, nan, bad));
    if (cols < kPanelCols)
      for (int64_t j = 0; j < cols; ++j) to[j] = edge[j];
  }
}

}  // namespace daybreak::isa::detail
