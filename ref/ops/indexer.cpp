// Keys are taken in blocks of 256 counted from key 0, whatever the number of threads: a block's
// product is one Eigen call on cache-sized operands, so results do not depend on how blocks are
// shared out.
#include "ref/ops/indexer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "ref/ops/check.hpp"
#include "ref/ops/formats.hpp"
#include "ref/ops/gemm.hpp"

namespace daybreak::ref {
namespace {

constexpr int64_t kBlock = 256;
constexpr float kHidden = -std::numeric_limits<float>::infinity();

void decode(const uint8_t* codes, int64_t count, double* to) {
  static const std::array<double, 256> table = [] {
    std::array<double, 256> values;
    for (int code = 0; code < 256; ++code) values[code] = e4m3_value(uint8_t(code));
    return values;
  }();
  for (int64_t i = 0; i < count; ++i) to[i] = table[codes[i]];
}

void decode(const uint16_t* bits, int64_t count, double* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = bf16_value(bits[i]);
}

RowMatrix query_matrix(const IndexerQuery& q) {
  const size_t elements = size_t(q.tokens) * q.heads * q.dim;
  require(q.tokens >= 0 && q.heads > 0 && q.dim > 0,
          "indexer query with negative tokens or no heads");
  require(q.e4m3.empty() || q.bf16.empty(), "indexer query given in two formats");
  require(q.e4m3.size() + q.bf16.size() == elements,
          "indexer query of another size than its shape");
  require(q.weights.size() == size_t(q.tokens) * q.heads,
          "indexer weights are not (tokens, heads)");
  require(q.valid.empty() || int64_t(q.valid.size()) == q.tokens,
          "indexer valid counts are not one a token");
  RowMatrix matrix(q.tokens * q.heads, q.dim);
  if (q.bf16.empty())
    decode(q.e4m3.data(), int64_t(elements), matrix.data());
  else
    decode(q.bf16.data(), int64_t(elements), matrix.data());
  return matrix;
}

// Keys [first, first + count) as values and scales.
struct KeyBlock {
  RowMatrix keys;  // (kBlock, dim)
  std::array<float, kBlock> scales;
  std::vector<uint8_t> room;
};
using KeyLoader = std::function<void(int64_t first, int64_t count, KeyBlock& block)>;

// One worker's share: blocks [from, to).
class Scorer {
 public:
  Scorer(const IndexerQuery& query, const RowMatrix& q, int64_t keys, const KeyLoader& load,
         float* scores)
      : query_(query), q_(q), keys_(keys), load_(load), scores_(scores) {}

  int64_t valid(int64_t token) const {
    if (query_.valid.empty()) return keys_;
    return std::clamp<int64_t>(query_.valid[token], 0, keys_);
  }

  void run(int64_t from, int64_t to) const {
    KeyBlock block;
    block.keys.resize(kBlock, query_.dim);
    Eigen::MatrixXd dots(kBlock, query_.heads);  // (keys, heads), a head's keys side by side
    for (int64_t first = from * kBlock; first < std::min(to * kBlock, keys_); first += kBlock) {
      int64_t seen = 0;
      for (int64_t t = 0; t < query_.tokens; ++t) seen = std::max(seen, valid(t));
      const int64_t count = std::min(kBlock, seen - first);
      if (count <= 0) return;
      load_(first, count, block);
      for (int64_t t = 0; t < query_.tokens; ++t) {
        const int64_t wanted = std::min(count, valid(t) - first);
        if (wanted > 0) score(t, first, count, wanted, block, dots);
      }
    }
  }

 private:
  void score(int64_t token, int64_t first, int64_t count, int64_t wanted, const KeyBlock& block,
             Eigen::MatrixXd& dots) const {
    const int64_t heads = query_.heads;
    dots.topRows(count).noalias() =
        block.keys.topRows(count) * q_.middleRows(token * heads, heads).transpose();
    std::array<float, kBlock> sums{};
    for (int64_t h = 0; h < heads; ++h) {
      const float weight = query_.weights[token * heads + h];
      const double* column = dots.data() + h * kBlock;
      for (int64_t s = 0; s < count; ++s) {
        const float dot = float(column[s]);
        sums[s] += (dot < 0 ? 0 : dot) * weight;
      }
    }
    float* out = scores_ + token * keys_ + first;
    for (int64_t s = 0; s < wanted; ++s) out[s] = sums[s] * block.scales[s];
  }

  const IndexerQuery& query_;
  const RowMatrix& q_;
  int64_t keys_;
  const KeyLoader& load_;
  float* scores_;
};

std::vector<float> all_scores(const IndexerQuery& query, int64_t keys, const KeyLoader& load,
                              int threads) {
  fix_blocking();
  const RowMatrix q = query_matrix(query);
  std::vector<float> scores(size_t(query.tokens) * keys, kHidden);
  const Scorer scorer(query, q, keys, load, scores.data());
  const int64_t blocks = (keys + kBlock - 1) / kBlock;
  const int64_t workers = std::clamp<int64_t>(threads, 1, std::max<int64_t>(blocks, 1));
  std::vector<std::exception_ptr> errors(workers);
  const auto share = [&](int64_t worker) {
    try {
      scorer.run(blocks * worker / workers, blocks * (worker + 1) / workers);
    } catch (...) { errors[worker] = std::current_exception(); }
  };
  std::vector<std::jthread> others;
  for (int64_t worker = 1; worker < workers; ++worker) others.emplace_back(share, worker);
  share(0);
  others.clear();  // joins
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
  return scores;
}

}  // namespace

std::vector<float> indexer_scores(const IndexerQuery& query, const PlainKeys& keys, int threads) {
  const int64_t dim = query.dim;
  require(keys.keys >= 0, "a negative number of index keys");
  require(keys.e4m3.empty() || keys.bf16.empty(), "index keys given in two formats");
  require(int64_t(keys.e4m3.size() + keys.bf16.size()) == keys.keys * dim,
          "index keys of another size than their shape");
  require(int64_t(keys.scales.size()) == keys.keys, "index key scales are not one a key");
  const KeyLoader load = [&](int64_t first, int64_t count, KeyBlock& block) {
    if (keys.bf16.empty())
      decode(keys.e4m3.data() + first * dim, count * dim, block.keys.data());
    else
      decode(keys.bf16.data() + first * dim, count * dim, block.keys.data());
    std::copy_n(keys.scales.data() + first, count, block.scales.data());
  };
  return all_scores(query, keys.keys, load, threads);
}

std::vector<float> indexer_scores(const IndexerQuery& query, const PagedKeys& keys, int threads) {
  const int64_t dim = query.dim, tokens = keys.page_tokens;
  require(keys.keys >= 0 && tokens > 0, "a negative number of index keys or empty pages");
  const int64_t used = tokens * (dim + 4);
  const int64_t page_bytes = keys.page_bytes > 0 ? keys.page_bytes : used;
  require(page_bytes >= used, "index pages overlap");
  std::mutex reading;
  const KeyLoader load = [&](int64_t first, int64_t count, KeyBlock& block) {
    for (int64_t done = 0; done < count;) {
      const int64_t entry = (first + done) / tokens, at = (first + done) % tokens;
      const int64_t run = std::min(count - done, tokens - at);
      require(entry < int64_t(keys.blocks.size()) && keys.blocks[entry] >= 0,
              "an index key's block is not mapped");
      const uint64_t page = uint64_t(keys.blocks[entry]) * uint64_t(page_bytes);
      const uint8_t* bytes;
      {
        const std::lock_guard lock(reading);
        bytes = keys.cache.at(page, uint64_t(used), block.room);
      }
      decode(bytes + at * dim, run * dim, block.keys.data() + done * dim);
      std::memcpy(block.scales.data() + done, bytes + tokens * dim + at * 4, size_t(run) * 4);
      done += run;
    }
  };
  return all_scores(query, keys.keys, load, threads);
}

}  // namespace daybreak::ref
