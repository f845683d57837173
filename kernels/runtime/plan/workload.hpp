// One DSA layer's decode step as a workload: the shapes every tensor, kernel and check follows from.
// Built from a model's config.json (day0) or from `key=value` words (run).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/runtime/model/model.hpp"

namespace daybreak::kernels {

// Where the list of selected positions comes from (design.md section 5).
enum class IndexSource : uint8_t { computed, random, local, file };
// How cached keys and latents are stored.
enum class CacheForm : uint8_t { fp8, bf16 };

// What the index queries and keys of successive decode steps have to do with each other. Without a
// model's weights this is an input: it decides what a list is worth some steps after it was made.
enum class IndexStream : uint8_t {
  random,   // every step's queries are new
  local,    // keys of a segment share a topic; queries ask for those of the latest segments
  overlap,  // a query is mostly the one before: about 60 % of the exact selection at 32768 positions
            // stays from step to step
};

// Prefill: a request stands for up to `queries` consecutive tokens of a sequence, which end at its
// context. Tokens at positions before `first_new` are padding.
struct TokenGroup {
  int32_t sequence = 0;
  int64_t first_new = 0;
};

struct Workload {
  int64_t batch = 1;              // requests
  int64_t queries = 1;            // query tokens of each request in this step, 1 to 8
  int64_t context = 0;            // keys the last query token sees, its own included
  std::vector<int64_t> contexts;  // one per request where they differ; empty: all `context`
  std::vector<TokenGroup>
      groups;           // prefill: one per request; decode: none, a request is a sequence
  int64_t heads = 128;  // attention heads
  int64_t index_heads = 64;
  int64_t topk = 2048;
  int64_t index_page = 64;   // tokens of an index-key page
  int64_t latent_page = 64;  // tokens of a latent page
  int64_t reserve = 0;       // positions that every request has room for, side by side; 0: pages as
                             // needed, anywhere
  CacheForm index_form = CacheForm::fp8, latent_form = CacheForm::fp8;
  bool index_interleaved = false, rope_interleaved = true;
  bool power_of_two_scales = true;  // activation scales
  double softmax_scale = 0.1352337788608801;
  double rms_epsilon = 1e-6, index_norm_epsilon = 1e-6;
  RopeConfig rope;
  double rope_magnitude = 1;  // factor of cosine and sine
  IndexSource index = IndexSource::computed;
  std::string index_file;  // IndexSource::file: int32 little-endian, (tokens, topk)
  IndexStream stream = IndexStream::random;
  bool sinks = false;  // learned attention sinks
  uint64_t seed = 1;

  int64_t tokens() const { return batch * queries; }
  int64_t context_of(int64_t request) const {
    return contexts.empty() ? context : contexts[size_t(request)];
  }
  int64_t sequence_of(int64_t request) const {
    return groups.empty() ? request : groups[size_t(request)].sequence;
  }
  // Whether a token is to be appended and checked, or only fills its group.
  bool is_new(int64_t token) const;
  // Keys that query token `token` (request-major) sees: those before its own position, and itself.
  int64_t visible(int64_t token) const;
  int64_t longest() const;
};

// The decode step of one DSA layer of `model`.
Workload workload_of(const ModelConfig& model, int64_t batch, int64_t queries, int64_t context);

}  // namespace daybreak::kernels
