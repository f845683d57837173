// Comparisons of a result with its reference, and what they found.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ref/compare/tolerance.hpp"

namespace daybreak::ref {

struct Metric {
  std::string name;
  double value;  // rounded to three digits
  double limit;
};

struct Verdict {
  std::string name;
  bool pass = false;
  std::vector<Metric> metrics = {};
  std::string tolerance = {};  // the limits in words
  int64_t elements = 0;        // compared
  int64_t worst = -1;          // flat index of the worst element, -1 = none differs
  double got = 0, want = 0;    // its two values
  std::string finding = {};    // why it failed, one sentence; empty when it passed
};

// Element by element. Different lengths fail.
Verdict compare(std::string name, std::span<const double> got, std::span<const double> want,
                const Tolerance& tolerance);
Verdict compare(std::string name, std::span<const float> got, std::span<const float> want,
                const Tolerance& tolerance);
Verdict compare(std::string name, std::span<const float> got, std::span<const double> want,
                const Tolerance& tolerance);

// Codes, indices: equal or not.
Verdict compare_exact(std::string name, std::span<const int32_t> got,
                      std::span<const int32_t> want);
Verdict compare_exact(std::string name, std::span<const uint8_t> got,
                      std::span<const uint8_t> want);

// A top-k list whose scores may be off by `epsilon` from the reference scores (operators.md section
// 3). With tau the k-th reference score: every score above tau + epsilon is in the list, none below
// tau - epsilon; min(k, candidates) unique indices, ascending, in range, then -1. k = list.size().
Verdict compare_topk(std::string name, std::span<const int32_t> list, std::span<const float> scores,
                     double epsilon);

}  // namespace daybreak::ref
