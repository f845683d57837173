#include "ref/ops/router.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ref/ops/check.hpp"
#include "ref/ops/gemm.hpp"
#include "ref/ops/topk.hpp"

namespace daybreak::ref {
namespace {

constexpr float kOut = -std::numeric_limits<float>::infinity();

// Experts outside the best groups become -inf.
void drop_groups(std::vector<float>& choice, const Router& r) {
  if (r.groups <= 1) return;
  const int64_t size = r.experts / r.groups;
  std::vector<std::pair<float, int64_t>> worth;  // minus the worth, so that lower groups win ties
  for (int64_t g = 0; g < r.groups; ++g) {
    std::vector<float> members(choice.begin() + g * size, choice.begin() + (g + 1) * size);
    for (float& c : members) c = std::isnan(c) ? kOut : c;
    std::sort(members.begin(), members.end(), std::greater<>());
    worth.emplace_back(-(size > 1 ? members[0] + members[1] : members[0]), g);
  }
  std::sort(worth.begin(), worth.end());
  for (int64_t g = r.keep; g < r.groups; ++g)
    std::fill_n(choice.begin() + worth[size_t(g)].second * size, size, kOut);
}

}  // namespace

Routed route(std::span<const float> logits, const Router& r) {
  require(r.experts > 0 && r.topk >= 0 && r.topk <= r.experts, "a router of no experts");
  require(r.groups > 0 && r.experts % r.groups == 0, "expert groups of different sizes");
  require(int64_t(logits.size()) % r.experts == 0, "logits of a part of a token");
  require(r.form == RouterForm::softmax || int64_t(r.bias.size()) == r.experts,
          "a selection bias of another size");
  Routed out;
  for (size_t first = 0; first < logits.size(); first += size_t(r.experts)) {
    std::vector<float> choice(size_t(r.experts)), value(size_t(r.experts));
    for (size_t e = 0; e < size_t(r.experts); ++e) {
      const float x = logits[first + e];
      const bool sigmoid = r.form == RouterForm::sigmoid;
      value[e] = sigmoid ? float(1 / (1 + std::exp(-double(x)))) : x;
      choice[e] = std::isnan(x) ? kOut : sigmoid ? value[e] + r.bias[e] : x;
    }
    drop_groups(choice, r);
    const auto chosen = topk(choice, r.topk);
    std::vector<double> weights(chosen.size(), 0.0);
    double largest = kOut, sum = 0;
    for (int32_t e : chosen)
      if (e >= 0) largest = std::max(largest, double(value[size_t(e)]));
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i] < 0) continue;
      const double v = value[size_t(chosen[i])];
      weights[i] = r.form == RouterForm::softmax ? std::exp(v - largest) : v;
      sum += weights[i];
    }
    const bool divide = r.normalise || r.form == RouterForm::softmax;
    for (double& w : weights) w = (divide ? sum == 0 ? 0 : w / sum : w) * r.scale;
    out.experts.insert(out.experts.end(), chosen.begin(), chosen.end());
    out.weights.insert(out.weights.end(), weights.begin(), weights.end());
  }
  return out;
}

std::vector<double> router_logits(std::span<const float> x, std::span<const float> w,
                                  int64_t hidden, std::span<const float> bias) {
  require(hidden > 0 && int64_t(x.size()) % hidden == 0 && int64_t(w.size()) % hidden == 0,
          "router operands of a part of a row");
  fix_blocking();
  using Map =
      Eigen::Map<const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
  const auto tokens = int64_t(x.size()) / hidden, experts = int64_t(w.size()) / hidden;
  const RowMatrix left = Map(x.data(), tokens, hidden).cast<double>(),
                  right = Map(w.data(), experts, hidden).cast<double>();
  RowMatrix out = left * right.transpose();
  for (int64_t e = 0; e < int64_t(bias.size()); ++e) out.col(e).array() += double(bias[size_t(e)]);
  return {out.data(), out.data() + out.size()};
}

}  // namespace daybreak::ref
