// A random index-key cache with queries, for the tests of scoring and of fused selection.
#pragma once
#include "ref/ops/indexer.hpp"
#include "tests/kernels/library/scene.hpp"

namespace daybreak::kernels {

struct IndexScene : Scene {
  std::vector<int32_t> contexts;
  int queries, heads, tile;  // heads of the model; rows per token in q
  bool quantised;
  Random random;
  Pages pages;
  int64_t positions;  // of a score row
  uint16_t q, weights, keys, requests, blocks, lengths, scores;

  IndexScene(std::vector<int32_t> context_lengths, int queries, int heads, int tile, bool quantised,
             uint64_t seed, int64_t first_page = 0);

  int64_t tokens() const { return int64_t(contexts.size()) * queries; }
  int32_t seen(int64_t token) const {
    return std::max(contexts[size_t(token / queries)] - queries + int32_t(token % queries) + 1, 0);
  }
  // Scores of the keys a token sees, from the oracle.
  std::vector<float> oracle(int64_t token) const;
  // The scale of one key of the cache.
  void set_scale(int64_t request, int64_t position, float scale);

  template <class Args> void inputs(Args& a, int splits) const {
    const int64_t rows = tokens() * tile;
    a.q = dsa::matrix(q, quantised ? Format::e4m3 : Format::bf16, rows, dsa::kKey);
    a.weights = dsa::column(weights, Format::f32, rows);
    a.keys = quantised ? dsa::index_codes(keys, pages.pages) : dsa::index_rows(keys, pages.pages);
    a.key_scales = dsa::index_scales(keys, pages.pages);
    a.page_requests = dsa::page_requests(requests, int64_t(contexts.size()));
    a.page_blocks = dsa::page_blocks(blocks, int64_t(pages.blocks.size()));
    a.contexts = dsa::row(lengths, Format::i32, int64_t(contexts.size()));
    a.requests = int(contexts.size());
    a.queries = queries;
    a.splits = splits;
  }

 private:
  void fill_keys();
};

}  // namespace daybreak::kernels
