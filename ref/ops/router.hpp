// Choice of experts (operators.md section 5). Two forms:
//   sigmoid: s = sigmoid(logit); c = s + bias decides, within the best `keep` of `groups` groups of
//            experts (a group counts as the sum of its best two c, the others are out); weights are s.
//   softmax: the best k logits; weights are the softmax over them.
// Order: score descending, lower expert first; a logit of NaN is never chosen, nor -inf under softmax. Weights are
// divided by their sum where `normalise`, then multiplied by `scale`.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace daybreak::ref {

enum class RouterForm : uint8_t { sigmoid, softmax };

struct Router {
  RouterForm form = RouterForm::sigmoid;
  int64_t experts = 0, topk = 0, groups = 1, keep = 1;
  bool normalise = true;
  double scale = 1;
  std::span<const float> bias = {};  // (experts); sigmoid: of the choice only
};

struct Routed {
  std::vector<int32_t> experts;  // (tokens, topk) ascending, -1 last
  std::vector<double> weights;   // (tokens, topk); 0 where there is no expert
};

// logits (tokens, experts); for softmax the bias is part of them already.
Routed route(std::span<const float> logits, const Router&);

// x (tokens, hidden) . w (experts, hidden)^T + bias, in double; bias may be empty.
std::vector<double> router_logits(std::span<const float> x, std::span<const float> w,
                                  int64_t hidden, std::span<const float> bias = {});

}  // namespace daybreak::ref
