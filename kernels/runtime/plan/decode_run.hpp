// Decode steps one after the other over a KvCache: tokens are appended, selected, attended to, and those
// that speculation got wrong are rolled back. Selection is exact every `refresh` steps; between them the
// last exact list is reused with the newest positions added (kernels/library/dsa/merge_add.hpp).
//
//   DecodeRun run(start, shape, chip);
//   while (run.next()) {
//     ... run run.plan() ...
//     run.finish();
//   }
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "kernels/runtime/kv/kv_cache.hpp"
#include "kernels/runtime/plan/decode_chain.hpp"
#include "kernels/runtime/plan/oracle.hpp"

namespace daybreak::kernels {

struct DecodeShape {
  int64_t steps = 1;
  int64_t refresh = 1;  // steps from one exact selection to the next
  int64_t layers = 1;   // that attend with one layer's selection; one set of caches stands for each
  int64_t acceptance = 100;  // % of speculated tokens that are kept, while those before them are
};

// What a step's selections are worth, averaged over its tokens.
struct SelectionWorth {
  double recall = 1;      // of the exact list
  double mass = 0;        // captured attention mass, 0 to 1
  double exact_mass = 0;  // captured by the exact list
  double overlap = -1;  // of the exact list with the exact list of the step before; -1: none before
};

class DecodeRun {
 public:
  // `start`: requests and their contexts before the first step, `queries` tokens a step.
  DecodeRun(const Workload& start, const DecodeShape&, const isa::Capabilities& chip);

  // Prepares the next step; false after the last.
  bool next();
  Plan& plan() { return *plan_; }
  bool exact() const { return exact_; }  // whether this step selects
  // After the step has run: of a reused selection; the plan checks all else.
  std::optional<ref::Verdict> check_reuse();
  // Then: judges its selections and keeps the accepted tokens.
  void finish();
  const SelectionWorth& worth() const { return worth_; }
  int64_t step() const { return step_; }      // steps finished
  int64_t tokens() const { return tokens_; }  // kept so far, all requests
  const kv::KvCache& cache() const { return *kv_; }

 private:
  SelectionWorth judge();

  Workload start_;
  DecodeShape shape_;
  isa::Capabilities chip_;
  isa::MemoryImage image_;
  isa::BindingTable bindings_;
  std::unique_ptr<DecodeInputs> base_;
  std::vector<std::unique_ptr<kv::DeviceBytes>> bytes_;
  std::vector<std::unique_ptr<kv::PagedCache>> caches_;
  std::unique_ptr<kv::KvCache> kv_;

  int64_t step_ = 0, tokens_ = 0;
  bool exact_ = true;
  std::unique_ptr<DecodeInputs> inputs_;
  ChainTuning tuning_;
  std::shared_ptr<DecodeOracle> oracle_;
  std::unique_ptr<ChainTensors> tensors_;
  std::unique_ptr<Plan> plan_;
  KeptLists kept_;
  std::vector<std::vector<float>>
      kept_scores_;  // reference scores behind the kept lists, by request
  std::vector<std::vector<int32_t>> last_exact_;  // exact list of each request's first token
  SelectionWorth worth_;
};

}  // namespace daybreak::kernels
