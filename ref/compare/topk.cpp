// The top-k comparator: what must be selected, what must not, and the form of the list.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "ref/compare/metrics.hpp"
#include "ref/compare/verdict.hpp"

namespace daybreak::ref {
namespace {

bool candidate(float score) {
  return !std::isnan(score) && score != -std::numeric_limits<float>::infinity();
}

// What is wrong with the form of the list; empty if nothing is. Sets `at` to the entry.
std::string form_error(std::span<const int32_t> list, std::span<const float> scores, size_t wanted,
                       int64_t& at) {
  for (size_t i = 0; i < list.size(); ++i) {
    at = int64_t(i);
    const int64_t index = list[i];
    if (i >= wanted) {
      if (index != -1)
        return fmt::format("entry {} is {} past the last of {} indices", i, index, wanted);
      continue;
    }
    if (index < 0 || index >= int64_t(scores.size()))
      return fmt::format("entry {} is {}, outside the {} scores", i, index, scores.size());
    if (!candidate(scores[index]))
      return fmt::format("entry {} selects index {}, whose score is NaN or -inf", i, index);
    if (i > 0 && index <= list[i - 1])
      return fmt::format("entry {} is {} after {}: not unique and ascending", i, index,
                         list[i - 1]);
  }
  at = -1;
  return {};
}

}  // namespace

Verdict compare_topk(std::string name, std::span<const int32_t> list, std::span<const float> scores,
                     double epsilon) {
  Verdict verdict{.name = std::move(name),
                  .pass = false,
                  .metrics = {},
                  .tolerance = fmt::format("set equal outside {:.3g} of the k-th score", epsilon),
                  .elements = int64_t(list.size()),
                  .finding = {}};
  std::vector<float> ordered;
  std::copy_if(scores.begin(), scores.end(), std::back_inserter(ordered), candidate);
  const size_t wanted = std::min(list.size(), ordered.size());
  verdict.finding = form_error(list, scores, wanted, verdict.worst);
  if (!verdict.finding.empty()) {
    verdict.got = list[verdict.worst];
    verdict.want = -1;
    return verdict;
  }
  verdict.pass = true;
  if (wanted == 0) return verdict;

  std::nth_element(ordered.begin(), ordered.begin() + (wanted - 1), ordered.end(),
                   std::greater<>());
  const double tau = ordered[wanted - 1];
  std::vector<bool> selected(scores.size());
  for (size_t i = 0; i < wanted; ++i) selected[list[i]] = true;
  // How far the worst wrong choice lies from tau, and the sum of selected scores, free of scale.
  double missed = 0, largest = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (!candidate(scores[i])) continue;
    const double score = scores[i];
    if (std::isfinite(score)) largest = std::max(largest, std::fabs(score));
    // Equal infinities are no distance apart.
    const double above = score == tau ? 0 : score - tau;
    const double distance = selected[i] ? -above : above;
    if (distance > missed) {
      missed = distance;
      verdict.worst = int64_t(i);
      verdict.got = scores[i];
      verdict.want = tau;
    }
  }
  const double relative = missed == 0 ? 0 : missed / largest;
  verdict.metrics.push_back({"distance", round_digits(missed), epsilon});
  verdict.metrics.push_back({"distance over largest score", round_digits(relative), -1});
  if (missed > epsilon) {
    verdict.pass = false;
    verdict.finding =
        fmt::format("index {} with score {:.6g} is wrongly {} (k-th score {:.6g})", verdict.worst,
                    verdict.got, selected[verdict.worst] ? "selected" : "left out", tau);
  }
  return verdict;
}

}  // namespace daybreak::ref
