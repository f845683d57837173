// What the numbers of a decode chain must be: every step's results, read from the image after the run,
// against ref/ops on the same inputs. Reference scores are kept, since two chains share them.
//
// Long workloads are checked on a seeded sample of tokens that includes the first and the last (of
// each sequence, in a prefill); the verdict's name says how many of how many.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/runtime/plan/chain_tensors.hpp"
#include "ref/compare/verdict.hpp"
#include "ref/ops/bytes.hpp"
#include "ref/ops/sparse_mla.hpp"

namespace daybreak::kernels {

class DecodeOracle {
 public:
  explicit DecodeOracle(const DecodeInputs& inputs, int64_t sample = 16);

  using Verdicts = std::vector<ref::Verdict>;
  Verdicts index_prepare(const ChainTensors&, const ChainTuning&);
  Verdicts query_prepare(const ChainTensors&, const ChainTuning&);
  Verdicts latent_append(const ChainTensors&, const ChainTuning&);
  Verdicts scores(const ChainTensors&, const ChainTuning&);
  Verdicts topk(const ChainTensors&, const ChainTuning&);
  Verdicts fused_selection(const ChainTensors&, const ChainTuning&);
  Verdicts index_table(const ChainTensors&, const ChainTuning&);
  Verdicts partial_attention(const ChainTensors&, const ChainTuning&);
  Verdicts attention(const ChainTensors&, const ChainTuning&);
  // Reference scores of the positions that one token sees.
  std::span<const float> scores_of(const ChainTensors&, int64_t token);

 private:
  // A seeded sample of `from`, in its order, with the first and the last.
  std::vector<int64_t> sample(const std::vector<int64_t>& from) const;
  std::vector<int64_t> sampled_tokens() const;
  // Tokens whose selection is checked: all of a decode step, the sampled ones of a prefill.
  std::vector<int64_t> selecting_tokens() const;
  std::string named(const std::string& what, size_t checked, int64_t of, const char* unit) const;
  ref::ByteSource bytes_of(uint16_t binding) const;
  // Reference scores of one request's tokens, (queries, context); cells a token does not see are -inf.
  const std::vector<float>& reference_scores(const ChainTensors&, int64_t request);
  std::vector<double> rotated(std::span<const float> x, int64_t position, bool interleaved) const;
  ref::AttentionResult reference_attention(const ChainTensors&, int64_t token,
                                           std::span<const int32_t> rows, bool sink);

  const DecodeInputs& in_;
  const Workload& w_;
  int64_t sample_;
  std::vector<std::vector<int64_t>> new_tokens_;  // by sequence; decode: all in one
  int64_t all_new_ = 0;
  std::map<std::pair<uint16_t, int64_t>, std::vector<float>>
      scores_;  // by (queries' binding, request)
};

}  // namespace daybreak::kernels
