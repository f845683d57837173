// Sparse MLA of one token in absorbed form (operators.md section 4), softmax and sums in double on
// the BF16 values of queries and dequantised rows.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ref/ops/bytes.hpp"
#include "ref/ops/quantise.hpp"

namespace daybreak::ref {

enum class RowForm : uint8_t {
  fp8_record,  // 656 bytes: see quantise.hpp
  bf16         // 1152 bytes: 576 bf16
};

// The latent cache; rows are physical rows.
struct LatentRows {
  const ByteSource& bytes;
  RowForm form = RowForm::fp8_record;
  int64_t row_bytes = 0;  // distance of two rows; 0 = packed
};

struct AttentionQuery {
  int64_t heads = 0;
  std::span<const uint16_t> q = {};  // (heads, 576) bf16 bits: latent part, then rope part
  double scale = 1;                  // softmax scale
  std::span<const float> sink = {};  // (heads), natural logarithm; empty = none
};

struct AttentionResult {
  std::vector<double> out;  // (heads, 512)
  std::vector<double> lse;  // (heads): natural log-sum-exp without the sink; +inf = no key
  std::vector<double> max;  // (heads): largest scaled logit; -inf = no key
};

// Attends to rows[indices]; -1 entries count for nothing and their rows are never read.
AttentionResult sparse_mla(const AttentionQuery&, const LatentRows&,
                           std::span<const int32_t> indices);

// Joins results over disjoint lists of keys, each made without a sink; applies the sink at the end.
AttentionResult combine_splits(std::span<const AttentionResult> splits,
                               std::span<const float> sink = {});

}  // namespace daybreak::ref
