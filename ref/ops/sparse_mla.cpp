// Two passes over the listed rows, in blocks that stay in cache: scores, then probabilities times
// latents. Rows are decoded in both, which costs less than keeping them.
#include "ref/ops/sparse_mla.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ref/ops/check.hpp"
#include "ref/ops/formats.hpp"
#include "ref/ops/gemm.hpp"

namespace daybreak::ref {
namespace {

constexpr int64_t kBlock = 256;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Decodes listed rows one after the other.
class RowReader {
 public:
  explicit RowReader(const LatentRows& rows) : rows_(rows) {
    used_ = rows.form == RowForm::fp8_record ? kRecordBytes : kKeyDim * 2;
    stride_ = rows.row_bytes > 0 ? rows.row_bytes : used_;
    require(stride_ >= used_, "latent rows overlap");
  }

  // Rows `list` to the first list.size() rows of `to`, (kBlock, 576).
  void read(std::span<const int32_t> list, RowMatrix& to) {
    for (size_t i = 0; i < list.size(); ++i) {
      const uint8_t* bytes =
          rows_.bytes.at(uint64_t(list[i]) * uint64_t(stride_), uint64_t(used_), room_);
      float values[kKeyDim];
      if (rows_.form == RowForm::fp8_record) {
        decode_record(bytes, values);
      } else {
        uint16_t bits[kKeyDim];
        std::memcpy(bits, bytes, sizeof bits);
        std::transform(bits, bits + kKeyDim, values, bf16_value);
      }
      std::copy_n(values, kKeyDim, to.data() + i * kKeyDim);
    }
  }

 private:
  const LatentRows& rows_;
  int64_t used_, stride_;
  std::vector<uint8_t> room_;
};

// A softmax row: log-sum-exp, largest logit, and the sum of the weights left in place.
struct Softmax {
  double lse, max, sum;
};

// exp(logit - max) in place. No key, or nothing but -inf, leaves zeros and gives lse +inf.
Softmax soften(double* logits, int64_t count) {
  double max = -kInfinity;
  for (int64_t i = 0; i < count; ++i) max = logits[i] > max ? logits[i] : max;
  const bool any_nan = std::any_of(logits, logits + count, [](double x) { return x != x; });
  if (max == -kInfinity && !any_nan) {
    std::fill_n(logits, count, 0.0);
    return {kInfinity, -kInfinity, 0};
  }
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += logits[i] = std::exp(logits[i] - max);
  return {max + std::log(sum), max, sum};
}

// Share of a head's softmax that its sink leaves to the keys.
double kept_by_sink(double lse, double sink) { return 1 / (1 + std::exp(sink - lse)); }

void apply_sink(AttentionResult& result, std::span<const float> sink) {
  if (sink.empty()) return;
  require(sink.size() == result.lse.size(), "attention sinks are not one a head");
  for (size_t h = 0; h < sink.size(); ++h) {
    if (result.lse[h] == kInfinity) continue;  // no key: the output is zero already
    const double kept = kept_by_sink(result.lse[h], sink[h]);
    for (int64_t c = 0; c < kLatentDim; ++c) result.out[h * kLatentDim + c] *= kept;
  }
}

}  // namespace

AttentionResult sparse_mla(const AttentionQuery& query, const LatentRows& rows,
                           std::span<const int32_t> indices) {
  fix_blocking();
  const int64_t heads = query.heads;
  require(heads >= 0 && int64_t(query.q.size()) == heads * kKeyDim,
          "attention queries are not (heads, 576)");
  std::vector<int32_t> list;
  for (const int32_t index : indices) {
    require(index >= -1, "an index below -1 in an attention list");
    if (index >= 0) list.push_back(index);
  }
  RowMatrix q(heads, kKeyDim);
  std::transform(query.q.begin(), query.q.end(), q.data(), bf16_value);

  RowReader reader(rows);
  const int64_t keys = int64_t(list.size());
  const auto block_at = [&](int64_t first) {
    return std::span<const int32_t>(list).subspan(first, std::min(kBlock, keys - first));
  };
  RowMatrix latents(kBlock, kKeyDim), weights(heads, keys);
  for (int64_t first = 0; first < keys; first += kBlock) {
    const int64_t count = int64_t(block_at(first).size());
    reader.read(block_at(first), latents);
    weights.middleCols(first, count).noalias() = q * latents.topRows(count).transpose();
  }
  weights *= query.scale;

  AttentionResult result{.out = std::vector<double>(size_t(heads * kLatentDim)),
                         .lse = std::vector<double>(size_t(heads)),
                         .max = std::vector<double>(size_t(heads))};
  Eigen::VectorXd sums(heads);
  for (int64_t h = 0; h < heads; ++h) {
    const Softmax row = soften(weights.data() + h * keys, keys);
    result.lse[h] = row.lse;
    result.max[h] = row.max;
    sums[h] = row.lse == kInfinity ? 1 : row.sum;
  }
  RowMatrix out = RowMatrix::Zero(heads, kLatentDim);
  for (int64_t first = 0; first < keys; first += kBlock) {
    const int64_t count = int64_t(block_at(first).size());
    reader.read(block_at(first), latents);
    out.noalias() += weights.middleCols(first, count) * latents.topLeftCorner(count, kLatentDim);
  }
  for (int64_t h = 0; h < heads; ++h) out.row(h) /= sums[h];
  std::copy_n(out.data(), out.size(), result.out.data());
  apply_sink(result, query.sink);
  return result;
}

AttentionResult combine_splits(std::span<const AttentionResult> splits,
                               std::span<const float> sink) {
  require(!splits.empty(), "no splits to combine");
  const size_t heads = splits[0].lse.size();
  for (const AttentionResult& split : splits)
    require(split.lse.size() == heads && split.max.size() == heads &&
                split.out.size() == heads * kLatentDim,
            "splits differ in shape");
  AttentionResult result{.out = std::vector<double>(heads * kLatentDim),
                         .lse = std::vector<double>(heads),
                         .max = std::vector<double>(heads)};
  for (size_t h = 0; h < heads; ++h) {
    std::vector<double> logs, maxima;  // an empty split is -inf here
    for (const AttentionResult& split : splits) {
      logs.push_back(split.lse[h] == kInfinity ? -kInfinity : split.lse[h]);
      maxima.push_back(split.max[h]);
    }
    result.max[h] = *std::max_element(maxima.begin(), maxima.end());
    const Softmax row = soften(logs.data(), int64_t(logs.size()));
    result.lse[h] = row.lse;
    for (size_t i = 0; i < splits.size(); ++i)
      for (int64_t c = 0; c < kLatentDim && logs[i] != 0; ++c)
        result.out[h * kLatentDim + c] += logs[i] / row.sum * splits[i].out[h * kLatentDim + c];
  }
  apply_sink(result, sink);
  return result;
}

}  // namespace daybreak::ref
