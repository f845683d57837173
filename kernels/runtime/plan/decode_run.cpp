#include "kernels/runtime/plan/decode_run.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "configs/reader/errors.hpp"
#include "kernels/library/dsa/merge_add.hpp"
#include "kernels/runtime/plan/index_stream.hpp"
#include "ref/numeric/random.hpp"
#include "ref/ops/topk.hpp"

namespace daybreak::kernels {
namespace {

// Blocks of every request as a KvCache places them that is filled request after request.
std::shared_ptr<PagePlacement> filled_in_order(const Workload& start, int64_t longest,
                                               int64_t page_tokens) {
  const auto blocks = [&](int64_t tokens) { return (tokens + page_tokens - 1) / page_tokens; };
  auto out = std::make_shared<PagePlacement>(PagePlacement{
      .page_tokens = page_tokens, .first = {0}, .page = {}, .entry = {}, .request = {}});
  int32_t next = 0;
  for (int64_t r = 0; r < start.batch; ++r) {
    out->first.push_back((r + 1) * blocks(longest));
    out->request.insert(out->request.end(), size_t(blocks(longest)), int32_t(r));
    for (int64_t b = 0; b < blocks(longest); ++b) {
      const bool filled = b < blocks(start.context_of(r));
      out->page.push_back(filled ? next++ : -1);
      if (filled) out->entry.push_back(int32_t(out->page.size()) - 1);
    }
  }
  out->pages = std::max<int64_t>(out->first.back(), 1);
  out->entry.resize(size_t(out->pages), -1);
  return out;
}

// Tokens no two requests share, so that each has pages of its own.
std::vector<int32_t> token_ids(int64_t request, int64_t first, int64_t count) {
  std::vector<int32_t> out(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    out[size_t(i)] = int32_t(request * 1'000'003 + (first + i) % 1'000'003);
  return out;
}

// Of a softmax over the scores scaled to deviation 1 (as the seeded attention logits are): the share of
// the positions in each list.
std::vector<double> captured_mass(std::span<const float> scores,
                                  const std::vector<std::span<const int32_t>>& lists) {
  double sum = 0, squares = 0;
  for (float s : scores) sum += s, squares += double(s) * s;
  const auto n = double(scores.size());
  const double variance = std::max(squares / n - sum / n * (sum / n), 0.0);
  const double scale = variance > 0 ? 1 / std::sqrt(variance) : 0;
  const double highest = *std::max_element(scores.begin(), scores.end());
  const auto mass = [&](float s) { return std::exp((double(s) - highest) * scale); };
  double all = 0;
  for (float s : scores) all += mass(s);
  std::vector<double> out;
  for (const auto& list : lists) {
    double own = 0;
    for (int32_t p : list)
      if (p >= 0) own += mass(scores[size_t(p)]);
    out.push_back(own / all);
  }
  return out;
}

// Share of the ascending list `of` (-1 last) that is in `in`.
double share_in(std::span<const int32_t> of, std::span<const int32_t> in) {
  const auto end = [](std::span<const int32_t> l) { return std::find(l.begin(), l.end(), -1); };
  std::vector<int32_t> both;
  std::set_intersection(of.begin(), end(of), in.begin(), end(in), std::back_inserter(both));
  const auto count = end(of) - of.begin();
  return count > 0 ? double(both.size()) / double(count) : 1;
}

}  // namespace

DecodeRun::DecodeRun(const Workload& start, const DecodeShape& shape, const isa::Capabilities& chip)
    : start_(start), shape_(shape), chip_(chip) {
  if (start.index_form != CacheForm::fp8 || start.latent_form != CacheForm::fp8)
    throw UserError("decode steps: the KV cache keeps FP8 index keys and 656-byte records");
  if (shape.refresh * start.queries > MergeAdd<Record>::kMost)
    throw UserError("decode steps: refresh * queries is at most " +
                    std::to_string(MergeAdd<Record>::kMost) + ", the positions one merge adds");
  Workload longest = start;
  longest.contexts.clear();
  longest.context = start.longest() + shape.steps * start.queries;
  const auto index = filled_in_order(start, longest.context, start.index_page);
  const auto latent = filled_in_order(start, longest.context, start.latent_page);
  base_ = std::make_unique<DecodeInputs>(longest, image_, bindings_, index, latent);

  const auto add = [&](const PagePlacement& pages, kv::CacheLayout layout, uint16_t data,
                       uint16_t requests, uint16_t blocks) {
    for (uint16_t b : {data, requests, blocks})
      bytes_.push_back(std::make_unique<kv::ImageBytes>(image_, bindings_[b].base));
    const size_t at = bytes_.size() - 3;
    caches_.push_back(std::make_unique<kv::PagedCache>(
        kv::CacheShape{.layout = std::move(layout),
                       .pages = pages.pages,
                       .requests = std::max<int64_t>(start_.batch, 1),
                       .blocks_per_request = std::max<int64_t>(
                           pages.first.back() / std::max<int64_t>(start_.batch, 1), 1)},
        *bytes_[at], *bytes_[at + 1], *bytes_[at + 2]));
  };
  add(*index, kv::index_keys(start.index_page), base_->index_cache, base_->index_requests,
      base_->index_blocks);
  add(*latent, kv::latent_records(start.latent_page), base_->latent_cache, base_->latent_requests,
      base_->latent_blocks);
  kv_ = std::make_unique<kv::KvCache>(
      std::vector<kv::PagedCache*>{caches_[0].get(), caches_[1].get()});
  for (int64_t r = 0; r < start_.batch; ++r) {
    const auto prompt = token_ids(r, 0, start_.context_of(r));
    const auto opened = kv_->open(prompt);
    if (!opened || !kv_->append(opened->request, prompt, {opened->request}))
      throw InvariantError("the prompts do not fit the cache made for them");
    kv_->commit(opened->request);
  }
}

bool DecodeRun::next() {
  if (step_ == shape_.steps) return false;
  Workload step = start_;
  step.contexts.clear();
  for (int64_t r = 0; r < start_.batch; ++r) {
    const int request = int(r);
    const auto ids = token_ids(r, kv_->length(request), start_.queries);
    if (!kv_->make_resident({request}) || !kv_->append(request, ids, {request}))
      throw InvariantError("a step does not fit the cache made for it");
    step.contexts.push_back(kv_->length(request));
  }
  step.context = step.batch > 0 ? step.longest() : 0;
  const int64_t first = step_ * start_.queries;
  inputs_ = std::make_unique<DecodeInputs>(step, *base_, *kv_, first * start_.batch);
  put_index_stream(*inputs_, first);
  tuning_ = tuning_for(step, chip_);
  oracle_ = std::make_shared<DecodeOracle>(*inputs_);
  plan_ = std::make_unique<Plan>(image_, bindings_);

  exact_ = step_ % shape_.refresh == 0;
  ChainParts parts{.form = SelectionForm::fused};
  if (!exact_) {
    parts.reuse = kept_;
  } else if (shape_.refresh > 1) {
    kept_ = {.lists = inputs_->add("kept_lists", step.tokens() * dsa::kTopk * 8),
             .rows = step.tokens(),
             .sources = {},
             .listed = {}};
    parts.keep = kept_.lists;
  }
  tensors_ =
      std::make_unique<ChainTensors>(add_decode_chain(*plan_, *inputs_, tuning_, parts, oracle_));
  const ChainParts following{.form = SelectionForm::fused, .shared = tensors_.get()};
  for (int64_t layer = 1; layer < shape_.layers; ++layer)
    add_decode_chain(*plan_, *inputs_, tuning_, following, oracle_,
                     "layer" + std::to_string(layer) + ".");
  // Later steps, and what a selection is judged by.
  for (uint16_t b :
       {inputs_->index_cache, tensors_->index_q, tensors_->index_weights, tensors_->chosen})
    plan_->want(b);
  if (parts.keep) plan_->want(*parts.keep);
  return true;
}

// As if every new position had scored above all that the list was made from.
std::optional<ref::Verdict> DecodeRun::check_reuse() {
  std::optional<ref::Verdict> worst;
  if (exact_) return worst;
  const Workload& w = inputs_->workload;
  for (int64_t token = 0; token < w.tokens(); ++token) {
    auto scores = kept_scores_[size_t(token / w.queries)];
    double largest = 0;
    for (float s : scores) largest = std::max(largest, std::fabs(double(s)));
    scores.resize(size_t(w.visible(token)), MergeAdd<Record>::kAlways);
    auto verdict = ref::compare_topk(
        "reused selection", inputs_->get<int32_t>(tensors_->chosen, w.topk, token * w.topk), scores,
        largest * 1e-5);
    if (!worst || (worst->pass && !verdict.pass)) worst = std::move(verdict);
  }
  return worst;
}

SelectionWorth DecodeRun::judge() {
  const Workload& w = inputs_->workload;
  SelectionWorth sum{.recall = 0, .mass = 0, .exact_mass = 0, .overlap = 0};
  if (w.tokens() == 0) return {};
  std::vector<std::vector<int32_t>> firsts;
  for (int64_t token = 0; token < w.tokens(); ++token) {
    const auto scores = oracle_->scores_of(*tensors_, token);
    const auto exact = ref::topk(scores, w.topk);
    const auto used = inputs_->get<int32_t>(tensors_->chosen, w.topk, token * w.topk);
    const auto mass = captured_mass(scores, {used, exact});
    sum.recall += share_in(exact, used);
    sum.mass += mass[0];
    sum.exact_mass += mass[1];
    if (token % w.queries > 0) continue;
    if (!last_exact_.empty())
      sum.overlap += share_in(last_exact_[size_t(token / w.queries)], exact);
    firsts.push_back(exact);
  }
  const auto tokens = double(w.tokens());
  const SelectionWorth mean{.recall = sum.recall / tokens,
                            .mass = sum.mass / tokens,
                            .exact_mass = sum.exact_mass / tokens,
                            .overlap = last_exact_.empty() ? -1 : sum.overlap / double(w.batch)};
  last_exact_ = std::move(firsts);
  return mean;
}

void DecodeRun::finish() {
  worth_ = judge();
  const Workload& w = inputs_->workload;
  if (exact_) kept_.sources.clear(), kept_.listed.clear(), kept_scores_.clear();
  for (int64_t r = 0; r < w.batch; ++r) {
    int64_t kept = 1;
    while (kept < w.queries &&
           int64_t(numeric::below(numeric::mix(w.seed, uint64_t(Stream::acceptance),
                                               uint64_t((step_ * w.batch + r) * w.queries + kept)),
                                  100)) < shape_.acceptance)
      ++kept;
    const int64_t last = r * w.queries + kept - 1;
    if (exact_) {
      const auto scores = oracle_->scores_of(*tensors_, last);
      kept_.sources.push_back(int32_t(last));
      kept_.listed.push_back(int32_t(w.visible(last)));
      kept_scores_.emplace_back(scores.begin(), scores.end());
    }
    kv_->commit(int(r));
    kv_->truncate(int(r), w.visible(last));
    tokens_ += kept;
  }
  ++step_;
}

}  // namespace daybreak::kernels
