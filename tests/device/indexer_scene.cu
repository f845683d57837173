#include <limits>

#include "ref/ops/indexer.hpp"
#include "tests/device/fill.cuh"
#include "tests/device/scenes.cuh"

namespace daybreak::device {

namespace dsa = kernels::dsa;

namespace {

constexpr int kHeads = 64;

std::vector<int32_t> lengths_of(const IndexerShape& s) {
  if (s.prefill) return {s.contexts[0]};
  if (s.contexts.size() == 1) return std::vector<int32_t>(size_t(s.batch), s.contexts[0]);
  return s.contexts;
}

}  // namespace

std::string IndexerShape::text() const {
  const std::string context = " ctx=" + std::to_string(contexts[0]);
  if (prefill) return "s_q=" + std::to_string(batch * queries) + context;
  return "b=" + std::to_string(batch) + " next_n=" + std::to_string(queries) + context +
         " splits=" + std::to_string(splits);
}

IndexerScene::IndexerScene(const IndexerShape& s, uint64_t seed)
    : shape(s), random_{seed}, pages_(lengths_of(s), random_) {
  // The query tokens of a prefill are groups that share one request's pages.
  std::vector<int32_t> requests = pages_.requests;
  contexts = pages_.contexts;
  if (s.prefill) {
    requests.clear(), contexts.clear();
    for (int g = 0; g < s.batch; ++g) {
      requests.insert(requests.end(), pages_.requests.begin(), pages_.requests.end());
      contexts.push_back(s.contexts[0] - tokens() + (g + 1) * s.queries);
    }
  }
  positions_ = dsa::padded_context(*std::max_element(contexts.begin(), contexts.end()));
  const int64_t rows = int64_t(tokens()) * kHeads;
  q_ = memory.room(rows * dsa::kKey);
  fill_codes(memory.base(q_), rows * dsa::kKey, seed + 1, 60);
  weights_ = memory.room(rows * 4);
  fill_f32(memory.base(weights_), rows, seed + 2, 1e-3f);
  cache_ = memory.room(pages_.count * dsa::kIndexPageBytes);
  fill_index_pages(memory.base(cache_), pages_.count, seed + 3);
  scores_ = memory.room(tokens() * positions_ * 4);
  const uint16_t requests_id = memory.put(requests), blocks = memory.put(pages_.blocks),
                 contexts_id = memory.put(contexts);
  const auto bind = [&](auto& a) {
    a.q = memory.tensor(dsa::matrix(q_, Format::e4m3, rows, dsa::kKey));
    a.weights = memory.tensor(dsa::column(weights_, Format::f32, rows));
    a.keys = memory.tensor(dsa::index_codes(cache_, pages_.count));
    a.key_scales = memory.tensor(dsa::index_scales(cache_, pages_.count));
    a.page_requests = memory.tensor(dsa::page_requests(requests_id, s.batch));
    a.page_blocks = memory.tensor(dsa::page_blocks(blocks, int64_t(pages_.blocks.size())));
    a.contexts = memory.tensor(dsa::row(contexts_id, Format::i32, s.batch));
    a.requests = s.batch, a.queries = s.queries, a.splits = s.splits;
    a.scores = memory.tensor(dsa::score_columns(scores_, tokens(), positions_));
    a.positions = int(positions_);
  };
  if (s.queries == 1)
    bind(one_);
  else
    bind(two_);
}

void IndexerScene::launch(cudaStream_t stream) {
  if (shape.queries == 1)
    kernels::device::launch(one_, memory.place(stream));
  else
    kernels::device::launch(two_, memory.place(stream));
}

int32_t IndexerScene::seen(int token) const {
  return dsa::visible(contexts[size_t(token / shape.queries)], shape.queries,
                      token % shape.queries);
}

void IndexerScene::verify(Report& report, const std::string& name, int count) {
  launch();
  const std::string faults = memory.faults();
  if (!faults.empty()) return report.add(name, false, faults);
  struct Part {
    std::vector<uint8_t> q, pages;
    std::vector<float> weights, got, want;
    std::vector<int32_t> blocks;
  };
  const std::vector<int> ts = sample(tokens(), count, random_);
  std::vector<Part> parts(ts.size());
  std::vector<uint8_t> shared;  // the pages of a prefill's one request
  Memory staging;
  const auto pages_of = [&](int request) {
    const int32_t first = pages_.requests[size_t(request) * 4],
                  entries = pages_.requests[size_t(request) * 4 + 1];
    if (entries == 0) return std::vector<uint8_t>{};
    const std::vector<int32_t> list(pages_.blocks.begin() + first,
                                    pages_.blocks.begin() + first + entries);
    Memory room;
    const uint16_t rows = room.put(list), to = room.room(int64_t(entries) * dsa::kIndexPageBytes);
    collect_rows(room.base(to), memory.base(cache_),
                 reinterpret_cast<const int32_t*>(room.base(rows)), entries, dsa::kIndexPageBytes);
    return room.all<uint8_t>(to);
  };
  if (shape.prefill) shared = pages_of(0);
  for (size_t i = 0; i < ts.size(); ++i) {
    Part& p = parts[i];
    const int64_t t = ts[i];
    p.q = memory.get<uint8_t>(q_, t * kHeads * dsa::kKey, kHeads * dsa::kKey);
    p.weights = memory.get<float>(weights_, t * kHeads, kHeads);
    p.got = memory.get<float>(scores_, t * positions_, seen(int(t)));
    if (!shape.prefill) p.pages = pages_of(int(t) / shape.queries);
  }
  in_parallel(int(parts.size()), [&](int i) {
    Part& p = parts[size_t(i)];
    const std::vector<uint8_t>& bytes = shape.prefill ? shared : p.pages;
    for (int32_t b = 0; b < int32_t(bytes.size() / dsa::kIndexPageBytes); ++b)
      p.blocks.push_back(b);
    const ref::ByteSource cache(bytes);
    if (!p.got.empty())
      p.want = ref::indexer_scores(
          ref::IndexerQuery{.tokens = 1, .heads = kHeads, .e4m3 = p.q, .weights = p.weights},
          ref::PagedKeys{.keys = int64_t(p.got.size()), .cache = cache, .blocks = p.blocks});
  });
  std::vector<float> got, want;
  for (const Part& p : parts) {
    got.insert(got.end(), p.got.begin(), p.got.end());
    want.insert(want.end(), p.want.begin(), p.want.end());
  }
  report.add(ref::compare(name, std::span<const float>(got), std::span<const float>(want),
                          ref::tolerance("indexer_scores_device")));
}

void IndexerScene::verify_repeats(Report& report, const std::string& name, int times) {
  launch();
  const auto first = memory.all<uint8_t>(scores_);
  int different = 0;
  for (int i = 1; i < times; ++i) {
    memory.poison(scores_);
    launch();
    different += memory.all<uint8_t>(scores_) != first;
  }
  report.add(name + ", " + std::to_string(times) + " runs", different == 0,
             different ? std::to_string(different) + " differ from the first" : "same bytes");
}

double IndexerScene::flops() const {
  double keys = 0;
  for (int t = 0; t < tokens(); ++t) keys += seen(t);
  return 2 * keys * kHeads * dsa::kKey;
}
double IndexerScene::bytes() const {
  double keys = 0, scores = 0;
  for (const int32_t c : pages_.contexts) keys += c;
  for (int t = 0; t < tokens(); ++t) scores += seen(t);
  return keys * (dsa::kKey + 4) + scores * 4;
}

}  // namespace daybreak::device
