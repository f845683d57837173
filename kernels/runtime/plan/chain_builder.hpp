// Binds the chain's kernels to their tensors, one function per stage. The index kernels, whose shape is
// a template argument (heads, query tokens, cache form), are instantiated in index_steps_*.cpp.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/runtime/plan/decode_chain.hpp"
#include "kernels/runtime/plan/oracle.hpp"
#include "kernels/runtime/plan/step.hpp"

namespace daybreak::kernels {

class ChainBuilder {
 public:
  ChainBuilder(Plan& to, const DecodeInputs& inputs, const ChainTuning& how,
               const std::string& prefix, std::shared_ptr<DecodeOracle> reference)
      : plan(to),
        in(inputs),
        w(inputs.workload),
        tuning(how),
        t(inputs, how, prefix),
        oracle(std::move(reference)) {}

  void prepare_index();
  void prepare_queries();
  void append_latents();
  void share(const ChainTensors& other) {  // instead of selecting
    t.chosen = other.chosen;
    t.chosen_count = other.chosen_count;
  }
  void give_queries();  // instead of preparing: seeded codes, weights and rotated queries
  void give_scores();   // instead of scoring: seeded scores
  void score();
  void score_and_select(std::optional<uint16_t> keep);
  void reuse(const KeptLists&);  // instead of scoring and selecting
  void select();
  void build_table();
  void give_table();  // instead of building: made on the host
  void attend();
  void use_stream(uint32_t number) { stream = number; }  // of the steps that follow
  uint32_t last_step() const { return uint32_t(plan.steps().size()) - 1; }
  void wait_for(uint32_t step) { after.push_back(step); }  // before the step that follows
  const ChainTensors& tensors() const { return t; }

 private:
  using Check = std::vector<ref::Verdict> (DecodeOracle::*)(const ChainTensors&,
                                                            const ChainTuning&);
  void add(Step step, Check check) {
    if (check)
      step.check = [oracle = oracle, tensors = t, how = tuning, check] {
        return (*oracle.*check)(tensors, how);
      };
    step.stream = stream;
    step.after = std::exchange(after, {});
    plan.add(std::move(step));
  }
  isa::TensorDesc angles() const {
    return dsa::matrix(in.angles, Format::f32, std::max<int64_t>(w.longest(), 1), dsa::kRope);
  }
  isa::TensorDesc queries() const {
    return dsa::matrix(t.q, Format::bf16, w.tokens() * in.padded_heads, dsa::kDim);
  }
  Step scoring_step() const;

  Plan& plan;
  const DecodeInputs& in;
  const Workload& w;
  const ChainTuning tuning;
  ChainTensors t;
  std::shared_ptr<DecodeOracle> oracle;
  uint32_t stream = 0;
  std::vector<uint32_t> after;  // of the next step
};

}  // namespace daybreak::kernels
