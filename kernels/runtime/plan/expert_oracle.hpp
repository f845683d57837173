// What the reference says about each step of an expert layer, given what the step itself read.
#pragma once
#include <string>
#include <vector>

#include "kernels/runtime/plan/expert_layer.hpp"
#include "ref/compare/verdict.hpp"
#include "ref/ops/expert.hpp"

namespace daybreak::kernels {

class ExpertOracle {
 public:
  // Steps of more than `sample` tokens are checked on that many, spread evenly; the first and the last
  // are among them.
  explicit ExpertOracle(const ExpertLayer& layer, int64_t sample = 64);

  using Verdicts = std::vector<ref::Verdict>;
  Verdicts quantised(uint16_t x, uint16_t codes, uint16_t scales, int64_t cols) const;
  Verdicts logits() const;
  Verdicts selected() const;
  Verdicts placed() const;
  // Dense products: out = x . w (+ addend), BF16.
  Verdicts product(const std::string& name, uint16_t x, const ExpertMatrix& w, uint16_t out,
                   uint16_t addend) const;
  Verdicts shared() const;
  Verdicts combined() const;
  Verdicts normed() const;

 private:
  std::string named(const std::string& what) const;
  ref::ByteSource bytes_of(uint16_t binding) const;
  std::vector<float> bf16_rows(uint16_t binding, int64_t cols) const;  // of the sample
  ref::ScaleForm activation_scales() const;
  // The routed experts' part of the sample's results, one expert at a time.
  std::vector<double> routed(int64_t width) const;

  const ExpertLayer& layer_;
  const ExpertWorkload& w_;
  const ExpertModel& m_;
  const ExpertTensors& t_;
  std::vector<int64_t> sample_;
};

}  // namespace daybreak::kernels
