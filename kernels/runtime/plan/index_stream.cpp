#include "kernels/runtime/plan/index_stream.hpp"

#include <algorithm>
#include <cmath>

#include "ref/numeric/convert.hpp"
#include "ref/numeric/random.hpp"

namespace daybreak::kernels {
namespace {

constexpr int64_t kHistory = 64;   // terms of the drift
constexpr float kMemory = 0.95f;   // of a query for the one before; for 60 % at 32768 positions
constexpr int64_t kTopics = 16;    // latest segments a local query asks for
constexpr float kInterest = 0.2f;  // in the newest of them, beside a deviation of 1
constexpr float kFading = 0.9f;    // from one segment to the one before

// `count` values at use `n` of a request: a moving average whose correlation with the use d before is
// kMemory^d, of deviation 1.
std::vector<float> drifting(uint64_t seed, Stream stream, int64_t request, int64_t n,
                            int64_t count) {
  std::vector<float> sum(static_cast<size_t>(count)), fresh(sum.size());
  float weight = 1, squares = 0;
  for (int64_t j = 0; j < kHistory; ++j, weight *= kMemory) {
    const uint64_t row = (uint64_t(request) << 32) + uint64_t(n + kHistory - j);
    numeric::gaussian_bf16(seed, uint64_t(stream), row * uint64_t(count), fresh);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += weight * fresh[i];
    squares += weight * weight;
  }
  for (float& x : sum) x /= std::sqrt(squares);
  return sum;
}

// What queries at a position look for.
std::vector<float> interest(uint64_t seed, int64_t request, int64_t position) {
  std::vector<float> sum(dsa::kKey);
  float weight = kInterest;
  for (int64_t back = 0; back < kTopics && position / kSegment >= back; ++back, weight *= kFading) {
    const auto x = topic(seed, request, position / kSegment - back);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += weight * x[i];
  }
  return sum;
}

std::vector<uint16_t> bf16(const std::vector<float>& values) {
  std::vector<uint16_t> bits(values.size());
  numeric::encode_bf16(values, bits.data());
  return bits;
}

template <class T>
void put_at(const DecodeInputs& in, uint16_t binding, int64_t first, const std::vector<T>& values) {
  in.image().write(Address(in.bindings()[binding].base.value + uint64_t(first) * sizeof(T)),
                   std::as_bytes(std::span(values)));
}

}  // namespace

void put_index_stream(const DecodeInputs& in, int64_t tokens_before) {
  const Workload& w = in.workload;
  if (w.stream == IndexStream::random) return;
  const int64_t heads = w.index_heads, tile = in.index_head_tile;
  for (int64_t token = 0; token < w.tokens(); ++token) {
    const int64_t request = token / w.queries, position = w.visible(token) - 1;
    const int64_t n = tokens_before + token % w.queries;
    if (w.stream == IndexStream::overlap) {
      put_at(in, in.index_q_raw, token * tile * dsa::kKey,
             bf16(drifting(w.seed, Stream::drift_queries, request, n, heads * dsa::kKey)));
      put_at(in, in.head_weights, token * tile,
             drifting(w.seed, Stream::drift_weights, request, n, heads));
      continue;
    }
    const auto sought = interest(w.seed, request, position);
    const auto shared = topic(w.seed, request, position / kSegment);
    auto queries = in.get<uint16_t>(in.index_q_raw, heads * dsa::kKey, token * tile * dsa::kKey);
    auto key = in.get<uint16_t>(in.index_k_raw, dsa::kKey, token * dsa::kKey);
    auto weights = in.get<float>(in.head_weights, heads, token * tile);
    const auto shift = [](std::span<uint16_t> bits, const std::vector<float>& by) {
      std::vector<float> values(bits.size());
      numeric::decode_bf16(bits, values.data());
      for (size_t i = 0; i < values.size(); ++i) values[i] += by[i];
      numeric::encode_bf16(values, bits.data());
    };
    for (int64_t h = 0; h < heads; ++h)
      shift(std::span(queries).subspan(size_t(h * dsa::kKey), dsa::kKey), sought);
    shift(key, shared);
    for (float& x : weights) x = std::fabs(x);  // a head against a topic would look away from it
    put_at(in, in.index_q_raw, token * tile * dsa::kKey, queries);
    put_at(in, in.index_k_raw, token * dsa::kKey, key);
    put_at(in, in.head_weights, token * tile, weights);
  }
}

}  // namespace daybreak::kernels
