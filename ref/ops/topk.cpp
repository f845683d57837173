#include "ref/ops/topk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ref/ops/check.hpp"

namespace daybreak::ref {

std::vector<int32_t> topk(std::span<const float> scores, int64_t k) {
  require(k >= 0, "top-k with a negative k");
  require(scores.size() <= size_t(std::numeric_limits<int32_t>::max()),
          "top-k over more scores than int32 can index");
  std::vector<int32_t> order;
  order.reserve(scores.size());
  for (size_t i = 0; i < scores.size(); ++i)
    if (!std::isnan(scores[i]) && scores[i] != -std::numeric_limits<float>::infinity())
      order.push_back(int32_t(i));
  // Comparing floats makes -0 equal to +0 by itself.
  const auto better = [&](int32_t a, int32_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  };
  if (int64_t(order.size()) > k) {
    std::nth_element(order.begin(), order.begin() + k, order.end(), better);
    order.resize(k);
  }
  std::sort(order.begin(), order.end());
  order.resize(k, -1);
  return order;
}

}  // namespace daybreak::ref
