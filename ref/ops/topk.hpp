// Exact top-k as a total order (operators.md section 3): score descending, index ascending, -0 =
// +0, NaN and -inf never selected.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace daybreak::ref {

// k entries: the indices of the min(k, candidates) best scores, ascending, then -1.
std::vector<int32_t> topk(std::span<const float> scores, int64_t k);

}  // namespace daybreak::ref
