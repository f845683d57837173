// Lightning indexer scores (operators.md section 3, step 6):
//   score[t, s] = key_scale[s] * sum over heads of max(0, q[t, h] . k[s]) * w'[t, h]
// Dots in double (exact for E4M3), rounded to fp32; ReLU (NaN stays NaN), times w', summed over
// heads ascending from +0 in fp32; times the key scale. Same bits for every number of threads.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ref/ops/bytes.hpp"

namespace daybreak::ref {

// Queries of the tokens of one request. Exactly one of `e4m3` and `bf16` is given.
struct IndexerQuery {
  int64_t tokens = 0, heads = 0, dim = 128;
  std::span<const uint8_t> e4m3 = {};   // (tokens, heads, dim) codes
  std::span<const uint16_t> bf16 = {};  // (tokens, heads, dim) bits
  std::span<const float> weights = {};  // (tokens, heads): w', query scale and constants folded in
  std::span<const int32_t> valid = {};  // (tokens): keys the token sees, [0, valid); empty = all
};

// Keys side by side. Exactly one of `e4m3` and `bf16` is given.
struct PlainKeys {
  int64_t keys = 0;
  std::span<const uint8_t> e4m3 = {};   // (keys, dim)
  std::span<const uint16_t> bf16 = {};  // (keys, dim)
  std::span<const float> scales = {};   // (keys)
};

// Index-key cache in pages: page_tokens * dim codes, then page_tokens fp32 scales (8448 bytes for
// 64 tokens of 128). Block b of the request holds its keys [b * page_tokens, (b + 1) *
// page_tokens). Entries of `blocks` past the last key are not looked at.
struct PagedKeys {
  int64_t keys = 0;
  const ByteSource& cache;
  std::span<const int32_t> blocks = {};  // physical page of each block
  int64_t page_tokens = 64;
  int64_t page_bytes = 0;  // distance of two pages; 0 = packed
};

// fp32 (tokens, keys); keys that a token does not see are -inf. Throws InvariantError for shapes
// that disagree and for blocks outside the cache.
std::vector<float> indexer_scores(const IndexerQuery&, const PlainKeys&, int threads = 1);
std::vector<float> indexer_scores(const IndexerQuery&, const PagedKeys&, int threads = 1);

}  // namespace daybreak::ref
