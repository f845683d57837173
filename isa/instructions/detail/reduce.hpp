// Reductions along rows.
#pragma once
#include <limits>
#include <vector>

#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa::detail {

// Largest of n elements; NaN is never the largest, a maximum of zero is +0, no element gives -inf.
// Eight lanes: a maximum does not depend on the order.
inline float largest(const float* x, int64_t n) {
  constexpr int kLanes = 8;
  float lane[kLanes];
  for (float& m : lane) m = -std::numeric_limits<float>::infinity();
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int j = 0; j < kLanes; ++j) lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];
  float m = lane[0];
  for (float l : lane) m = l > m ? l : m;
  for (; i < n; ++i) m = x[i] > m ? x[i] : m;
  return m + 0.0f;
}

// Sums of all rows, each in ascending order in fp32. Rows are independent chains of additions: taking
// eight at a time hides the latency of an addition.
std::vector<float> row_sums(Context& c, const TileRef& t, std::string_view instruction);

}  // namespace daybreak::isa::detail
