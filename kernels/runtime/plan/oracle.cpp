#include "kernels/runtime/plan/oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "ref/numeric/random.hpp"
#include "ref/ops/formats.hpp"
#include "ref/ops/indexer.hpp"
#include "ref/ops/page_table.hpp"
#include "ref/ops/rope.hpp"
#include "ref/ops/topk.hpp"

namespace daybreak::kernels {

DecodeOracle::DecodeOracle(const DecodeInputs& inputs, int64_t sample)
    : in_(inputs), w_(inputs.workload), sample_(sample) {
  for (int64_t token = 0; token < w_.tokens(); ++token) {
    const auto sequence = w_.groups.empty() ? 0 : size_t(w_.sequence_of(token / w_.queries));
    if (!w_.groups.empty() && !w_.is_new(token)) continue;
    if (sequence >= new_tokens_.size()) new_tokens_.resize(sequence + 1);
    new_tokens_[sequence].push_back(token);
    ++all_new_;
  }
}

std::vector<int64_t> DecodeOracle::sample(const std::vector<int64_t>& from) const {
  const auto count = int64_t(from.size());
  if (count <= sample_) return from;
  std::set<int64_t> chosen = {0, count - 1};
  for (uint64_t draw = 0; int64_t(chosen.size()) < sample_; ++draw)
    chosen.insert(int64_t(numeric::below(numeric::mix(w_.seed, 0xC4EC, draw), uint64_t(count))));
  std::vector<int64_t> out;
  for (int64_t i : chosen) out.push_back(from[size_t(i)]);
  return out;
}

std::vector<int64_t> DecodeOracle::sampled_tokens() const {
  std::vector<int64_t> out;
  for (const auto& tokens : new_tokens_)
    for (int64_t token : sample(tokens)) out.push_back(token);
  return out;
}

std::vector<int64_t> DecodeOracle::selecting_tokens() const {
  if (!w_.groups.empty()) return sampled_tokens();
  std::vector<int64_t> all(static_cast<size_t>(w_.tokens()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::string DecodeOracle::named(const std::string& what, size_t checked, int64_t of,
                                const char* unit) const {
  if (int64_t(checked) == of) return what;
  return what + " (" + std::to_string(checked) + " of " + std::to_string(of) + " " + unit + ")";
}

ref::ByteSource DecodeOracle::bytes_of(uint16_t binding) const {
  const auto& b = in_.bindings()[binding];
  return ref::ByteSource(uint64_t(b.bytes.value),
                         [this, base = b.base](uint64_t at, std::span<uint8_t> to) {
                           in_.image().read(Address(base.value + at), std::as_writable_bytes(to));
                         });
}

std::vector<double> DecodeOracle::rotated(std::span<const float> x, int64_t position,
                                          bool interleaved) const {
  const auto frequencies = ref::rope_frequencies({.dim = dsa::kRope,
                                                  .theta = w_.rope.theta,
                                                  .yarn = w_.rope.yarn,
                                                  .factor = w_.rope.factor,
                                                  .original_positions = w_.rope.original_positions,
                                                  .beta_fast = w_.rope.beta_fast,
                                                  .beta_slow = w_.rope.beta_slow});
  const std::vector<int64_t> positions(x.size() / dsa::kRope, position);
  return ref::rope(x, positions, frequencies,
                   interleaved ? ref::RopeLayout::interleaved : ref::RopeLayout::half_split,
                   w_.rope_magnitude);
}

const std::vector<float>& DecodeOracle::reference_scores(const ChainTensors& t, int64_t request) {
  auto [found, fresh] = scores_.try_emplace({t.index_q, request});
  if (!fresh) return found->second;
  const bool fp8 = w_.index_form == CacheForm::fp8;
  const int64_t tile = in_.index_head_tile, dim = dsa::kKey, context = w_.context_of(request);
  const int64_t first = request * w_.queries * tile, rows = w_.queries * tile;
  std::vector<uint8_t> codes;
  std::vector<uint16_t> values;
  if (fp8)
    codes = in_.get<uint8_t>(t.index_q, rows * dim, first * dim);
  else
    values = in_.get<uint16_t>(t.index_q, rows * dim, first * dim);
  const auto weights = in_.get<float>(t.index_weights, rows, first);
  std::vector<int32_t> valid;
  for (int64_t own = 0; own < w_.queries; ++own)
    valid.push_back(int32_t(w_.visible(request * w_.queries + own)));
  const auto source = bytes_of(in_.index_cache);
  const auto sequence = size_t(w_.sequence_of(request));
  const auto from = size_t(in_.index_pages->first[sequence]);
  const auto to = size_t(in_.index_pages->first[sequence + 1]);
  const ref::IndexerQuery query{.tokens = w_.queries,
                                .heads = tile,
                                .dim = dim,
                                .e4m3 = codes,
                                .bf16 = values,
                                .weights = weights,
                                .valid = valid};
  const auto blocks = std::span(in_.index_pages->page).subspan(from, to - from);
  if (fp8) {
    found->second = ref::indexer_scores(
        query,
        ref::PagedKeys{
            .keys = context, .cache = source, .blocks = blocks, .page_tokens = w_.index_page},
        2);
  } else {
    std::vector<uint16_t> keys, page(size_t(w_.index_page * dim));
    for (int32_t block : blocks) {
      page = in_.get<uint16_t>(in_.index_cache, int64_t(page.size()), block * int64_t(page.size()));
      keys.insert(keys.end(), page.begin(), page.end());
    }
    keys.resize(size_t(context * dim));
    found->second = ref::indexer_scores(
        query, ref::PlainKeys{.keys = context, .e4m3 = {}, .bf16 = keys, .scales = {}}, 2);
  }
  return found->second;
}

std::span<const float> DecodeOracle::scores_of(const ChainTensors& t, int64_t token) {
  const int64_t request = token / w_.queries;
  const auto& all = reference_scores(t, request);
  return std::span(all).subspan(size_t(token % w_.queries * w_.context_of(request)),
                                size_t(w_.visible(token)));
}

DecodeOracle::Verdicts DecodeOracle::scores(const ChainTensors& t, const ChainTuning&) {
  std::vector<float> got, want;
  for (int64_t request = 0; request < w_.batch; ++request) {
    const auto& reference = reference_scores(t, request);
    const int64_t context = w_.context_of(request);
    for (int64_t own = 0; own < w_.queries; ++own) {
      const int64_t token = request * w_.queries + own, seen = w_.visible(token);
      const auto row = in_.get<float>(t.scores, seen, token * t.score_positions);
      got.insert(got.end(), row.begin(), row.end());
      const auto from = reference.begin() + own * context;
      want.insert(want.end(), from, from + seen);
    }
  }
  return {ref::compare("indexer scores", got, want, ref::tolerance("indexer_scores"))};
}

DecodeOracle::Verdicts DecodeOracle::topk(const ChainTensors& t, const ChainTuning&) {
  std::vector<int32_t> got, want, counts, valid;
  for (int64_t token : selecting_tokens()) {
    valid.push_back(in_.get<int32_t>(t.valid, 1, token)[0]);
    const auto row = in_.get<float>(t.scores, w_.visible(token), token * t.score_positions);
    const auto list = ref::topk(row, w_.topk);
    want.insert(want.end(), list.begin(), list.end());
    counts.push_back(
        int32_t(std::count_if(list.begin(), list.end(), [](int32_t p) { return p >= 0; })));
    const auto mine = in_.get<int32_t>(t.positions, w_.topk, token * w_.topk);
    got.insert(got.end(), mine.begin(), mine.end());
  }
  return {ref::compare_exact("top-k positions", got, want),
          ref::compare_exact("top-k counts", valid, counts)};
}

DecodeOracle::Verdicts DecodeOracle::fused_selection(const ChainTensors& t, const ChainTuning&) {
  Verdicts worst;
  for (int64_t token : selecting_tokens()) {
    const auto row = scores_of(t, token);
    double largest = 0;
    for (float s : row)
      if (std::isfinite(s)) largest = std::max(largest, std::fabs(double(s)));
    const auto list = in_.get<int32_t>(t.positions, w_.topk, token * w_.topk);
    auto verdict = ref::compare_topk("fused selection", list, row, largest * 1e-5);
    if (worst.empty() || (worst[0].pass && !verdict.pass)) worst = {std::move(verdict)};
  }
  return worst;
}

DecodeOracle::Verdicts DecodeOracle::index_table(const ChainTensors& t, const ChainTuning&) {
  std::vector<int32_t> want, requests = in_.get<int32_t>(in_.latent_requests, w_.batch * 4);
  std::vector<int32_t> got;
  for (int64_t token : selecting_tokens()) {
    const auto mine = in_.get<int32_t>(t.rows, w_.topk, token * w_.topk);
    got.insert(got.end(), mine.begin(), mine.end());
    const auto list = in_.get<int32_t>(t.chosen, w_.topk, token * w_.topk);
    const auto rows = ref::translate_positions(
        list,
        {.requests = requests, .blocks = in_.latent_pages->page, .page_tokens = w_.latent_page},
        token / w_.queries);
    want.insert(want.end(), rows.begin(), rows.end());
  }
  return {ref::compare_exact("index table", got, want)};
}

}  // namespace daybreak::kernels
