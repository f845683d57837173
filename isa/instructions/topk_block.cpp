#include "isa/instructions/topk_block.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "isa/instructions/detail/records.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

namespace {

// Stable radix sort by the upper 32 bits; entries come with ascending lower bits, which therefore
// decide ties. A digit that all keys share costs one count and no move.
void sort_by_key(std::vector<uint64_t>& keys) {
  constexpr int kBits = 11, kBuckets = 1 << kBits;
  std::vector<uint64_t> other(keys.size());
  for (int shift = 32; shift < 64; shift += kBits) {
    std::array<uint32_t, kBuckets> begin{};
    for (uint64_t k : keys) ++begin[(k >> shift) & (kBuckets - 1)];
    if (keys.empty() || begin[(keys[0] >> shift) & (kBuckets - 1)] == keys.size()) continue;
    uint32_t sum = 0;
    for (uint32_t& b : begin) sum += std::exchange(b, sum);
    for (uint64_t k : keys) other[begin[(k >> shift) & (kBuckets - 1)]++] = k;
    keys.swap(other);
  }
}

}  // namespace

// Every valid score is sorted in groups of 32, then merged four runs at a time.
Work TopkBlock::work() const {
  const auto merge = detail::merge_passes(count, k);
  return {.sort32_records = count, .merge_records = merge.records, .sort_passes = 1 + merge.passes};
}

void TopkBlock::execute(Context& c) const {
  if (count < 0 || count > scores.elements())
    detail::fail(kName, "count " + std::to_string(count) + " of " +
                            std::to_string(scores.elements()) + " scores");
  if (k < 0 || to.elements() != k)
    detail::fail(kName, detail::describe(to) + " must hold " + std::to_string(k) + " records");
  if (first < 0 || int64_t(first) + count > std::numeric_limits<int32_t>::max())
    detail::fail(kName, "positions from " + std::to_string(first) + " on leave int32");
  const detail::VectorReader values(c, scores, kName);
  std::vector<uint64_t> keys;
  keys.reserve(size_t(count));
  for (int32_t i = 0; i < count; ++i)
    if (detail::selectable(values[i]))
      keys.push_back(uint64_t{detail::descending_key(values[i])} << 32 | uint32_t(i));
  sort_by_key(keys);
  keys.resize(std::min<size_t>(keys.size(), size_t(k)));
  std::vector<detail::Record> list;
  list.reserve(keys.size());
  for (uint64_t key : keys) {
    const int32_t i = int32_t(uint32_t(key));
    list.push_back({.score = values[i] + 0.0f, .position = first + i});
  }
  detail::write_records(c, to, list, kName);
}

}  // namespace daybreak::isa
