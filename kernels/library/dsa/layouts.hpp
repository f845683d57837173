// How the tensors of a DSA decode step lie in memory, and the descriptors that name them
// (spec/operators.md sections 3 and 4). A physical row of a paged cache is page * page tokens +
// place in the page; descriptors of rank 3 map it to bytes, so kernels never see a page's stride.
//
// Query tokens are request-major: token = request * queries + own, and token `own` of a request
// with context length c sees positions [0, c - queries + own + 1). Heads are padded to the kernel's
// tile: rows of heads that do not exist are zeros and mean nothing in results.
#pragma once
#include <algorithm>
#include <cstdint>

#include "isa/memory/tensor.hpp"

namespace daybreak::kernels::dsa {

using isa::OutOfBounds;
using isa::TensorDesc;

inline constexpr int kKey = 128;       // columns of an index query and an index key
inline constexpr int kIndexPage = 64;  // tokens of an index-key page
inline constexpr int kIndexPageBytes = kIndexPage * (kKey + 4);  // 8448: codes, then fp32 scales
inline constexpr int kLatent = 512;           // columns of a latent: key and value
inline constexpr int kRope = 64;              // rotated columns
inline constexpr int kDim = kLatent + kRope;  // 576: length of a score's dot product
inline constexpr int kGroup = 128;            // columns that share a quantisation scale
inline constexpr int kScaleBytes = kLatent;   // where a record's 4 scales start
inline constexpr int kRopeBytes = kLatent + kLatent / kGroup * 4;  // where its rotated part starts
inline constexpr int kRecordBytes = kRopeBytes + kRope * 2;        // 656
inline constexpr int kTopk = 2048;                                 // records of a selection list
inline constexpr int kHeadTile = 64;                               // attention heads of one task
inline constexpr float kLog2e = 1.44269504f;

// Heads with the padding kernels need: a multiple of one task's heads.
constexpr int64_t padded_heads(int64_t heads, int64_t tile = kHeadTile) {
  return (heads + tile - 1) / tile * tile;
}
// Positions of a row of the score matrix: any step of any split ends inside it.
constexpr int64_t padded_context(int64_t longest) {
  constexpr int64_t step = 256;
  return std::max<int64_t>((longest + step - 1) / step, 1) * step;
}
// Positions that query token `own` of a request sees.
constexpr int32_t visible(int32_t context, int32_t queries, int32_t own) {
  return std::max(context - queries + own + 1, 0);
}

// Rows of `cols` elements, packed; what a tile reads past the end is zeros.
inline TensorDesc matrix(uint16_t binding, Format format, int64_t rows, int64_t cols,
                         int64_t offset = 0) {
  TensorDesc t = isa::tensor(binding, format, {rows, cols});
  t.offset = offset;
  t.out_of_bounds = OutOfBounds::zero;
  return t;
}
// One value a row, or one row of values.
inline TensorDesc column(uint16_t binding, Format format, int64_t rows) {
  return matrix(binding, format, rows, 1);
}
inline TensorDesc row(uint16_t binding, Format format, int64_t cols) {
  return matrix(binding, format, 1, cols);
}

// A paged cache: page p starts at p * page_bytes, its tokens token_bytes apart from `offset` on.
inline TensorDesc paged(uint16_t binding, Format format, int64_t pages, int64_t page_tokens,
                        int64_t cols, int64_t page_bytes, int64_t token_bytes, int64_t offset = 0) {
  return {.binding = binding,
          .format = format,
          .rank = 3,
          .offset = offset,
          .dims = {pages, page_tokens, cols},
          .strides = {page_bytes, token_bytes, bytes_of(format, 1)}};
}
// Index keys of 8448-byte pages: the codes and, over the same binding, the scale of each token.
inline TensorDesc index_codes(uint16_t binding, int64_t pages) {
  return paged(binding, Format::e4m3, pages, kIndexPage, kKey, kIndexPageBytes, kKey);
}
inline TensorDesc index_scales(uint16_t binding, int64_t pages) {
  return paged(binding, Format::f32, pages, kIndexPage, 1, kIndexPageBytes, 4, kIndexPage * kKey);
}
// Index keys as plain BF16 rows, pages of 64 tokens.
inline TensorDesc index_rows(uint16_t binding, int64_t pages) {
  return paged(binding, Format::bf16, pages, kIndexPage, kKey, kIndexPage * kKey * 2, kKey * 2);
}
// Latents as 656-byte records, or as BF16 rows of 576.
inline TensorDesc latent_records(uint16_t binding, int64_t pages, int64_t page_tokens) {
  return paged(binding, Format::u8, pages, page_tokens, kRecordBytes, page_tokens * kRecordBytes,
               kRecordBytes);
}
inline TensorDesc latent_rows(uint16_t binding, int64_t pages, int64_t page_tokens) {
  return paged(binding, Format::bf16, pages, page_tokens, kDim, page_tokens * kDim * 2, kDim * 2);
}

// Two-level page table: request entries {first block entry, block entries, generation, 0}, and
// block entries {physical page}.
inline TensorDesc page_requests(uint16_t binding, int64_t requests) {
  return matrix(binding, Format::i32, requests, 4);
}
inline TensorDesc page_blocks(uint16_t binding, int64_t entries) {
  return row(binding, Format::i32, entries);
}

// Scores (tokens, positions), by rows for selection and by single positions for the indexer, whose
// tiles hold one key a row. Cells past what a token sees are undefined.
inline TensorDesc score_rows(uint16_t binding, int64_t tokens, int64_t positions) {
  return matrix(binding, Format::f32, tokens, positions);
}
inline TensorDesc score_columns(uint16_t binding, int64_t tokens, int64_t positions) {
  return column(binding, Format::f32, tokens * positions);
}
// Selection lists, one a row; selected positions (tokens, 2048); what a table row was translated
// under.
inline TensorDesc lists(uint16_t binding, int64_t rows) {
  return matrix(binding, Format::record, rows, kTopk);
}
inline TensorDesc positions(uint16_t binding, int64_t tokens) {
  return matrix(binding, Format::i32, tokens, kTopk);
}
inline TensorDesc stamps(uint16_t binding, int64_t tokens) {
  return matrix(binding, Format::i32, tokens, 2);
}

}  // namespace daybreak::kernels::dsa
