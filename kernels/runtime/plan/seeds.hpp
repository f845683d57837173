// Seeded inputs of a model without weights (design.md section 5): every tensor is a pure function of
// (seed, stream, index), made on first touch. The past cache has the distribution of what the step
// itself appends: Gaussian before LayerNorm / RMSNorm and RoPE, then the same chain, then quantised.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "isa/memory/image.hpp"
#include "kernels/runtime/plan/workload.hpp"

namespace daybreak::kernels {

// One stream of random numbers per tensor.
enum class Stream : uint64_t {
  index_keys = 1,
  latents,
  index_queries,
  index_key_raw,
  index_weights,
  queries,
  latent_raw,
  rope_raw,
  norm_weight,
  norm_bias,
  latent_weight,
  sinks,
  scores,
  pages,
  topics,
  drift_queries,
  drift_weights,
  acceptance,
  selection = 64
};

// Rotation angles by position: cos and sin of dim/2 frequencies as fp32, computed in double; a row is
// `dim` values, cosines first. YaRN as operators.md section 2. Rows are made on first use.
class RopeTable {
 public:
  RopeTable(const RopeConfig&, int64_t dim, double magnitude = 1);
  std::span<const float> row(int64_t position) const;
  int64_t dim() const { return dim_; }

 private:
  static constexpr int64_t kChunk = 1024;  // positions made at once
  int64_t dim_;
  double magnitude_;
  std::vector<double> frequency_;
  mutable std::vector<std::vector<float>> chunks_;
};
// The table as a tensor (positions, dim) of fp32.
isa::Generator rope_rows(std::shared_ptr<const RopeTable>);

// Physical placement of the logical blocks of all requests in one cache: block b of request r lives in
// page `page[first[r] + b]`. Pages are handed out in a seeded random order, as after long service;
// where requests have room of their own (Workload::reserve), one after the other.
struct PagePlacement {
  int64_t page_tokens = 0, pages = 0;
  std::vector<int64_t> first;    // per request, first block entry; one more at the end
  std::vector<int32_t> page;     // block entries
  std::vector<int32_t> entry;    // inverse: block entry of a physical page, -1 = unused
  std::vector<int32_t> request;  // of each block entry
};
PagePlacement place_pages(const Workload&, int64_t page_tokens, uint64_t stream);

// BF16 Gaussian values of a stream times a power of two.
isa::Generator gaussian_bf16(uint64_t seed, Stream, float deviation = 1);
// fp32: mean + deviation x Gaussian.
isa::Generator gaussian_f32(uint64_t seed, Stream, float mean, float deviation);
// Index-key pages (8448 bytes: E4M3 codes, then fp32 scales), or BF16 rows for CacheForm::bf16.
isa::Generator index_key_pages(const Workload&, std::shared_ptr<const PagePlacement>,
                               std::shared_ptr<const RopeTable>);
// Of IndexStream::local: the part that index keys of one segment share (128 values).
inline constexpr int64_t kSegment = 256;  // positions
std::vector<float> topic(uint64_t seed, int64_t sequence, int64_t segment);
// Index queries as if prepared, (tokens * tile, 128): E4M3 codes of quantised Gaussian rows, or BF16 rows;
// zeros past the model's heads.
isa::Generator index_query_codes(const Workload&, int64_t tile);
// Latent records of 656 bytes, or BF16 rows of 576 for CacheForm::bf16.
isa::Generator latent_pages(const Workload&, std::shared_ptr<const PagePlacement>,
                            std::shared_ptr<const RopeTable>);
// Synthetic selections (IndexSource::random, local): `topk` ascending positions below `visible`, padded
// with -1. random: uniform without repeats; local: half the most recent positions, half clusters of 16.
std::vector<int32_t> synthetic_selection(const Workload&, int64_t token);

}  // namespace daybreak::kernels
