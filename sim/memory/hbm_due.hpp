// Which bank of a channel is to be looked at next, and when: at most one time for each bank, first
// asked for first within a tick.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace daybreak::sim {

class DueBanks {
 public:
  static constexpr int64_t kNever = INT64_MAX;

  explicit DueBanks(int64_t banks)
      : due_(size_t((banks + kBlock - 1) / kBlock * kBlock), kNever),
        first_of_block_((due_.size() / kBlock + 3) / 4 * 4, kNever) {}

  // Tick of the earliest bank.
  int64_t next() const { return first_ == kNever ? kNever : first_ >> (kBankBits + kOrderBits); }
  // Keeps the time a bank already has.
  void add(uint32_t bank, int64_t at) {
    if (due_[bank] != kNever) return;
    const int64_t order = int64_t(added_++ & ((1 << kOrderBits) - 1));
    const int64_t due = (at << kOrderBits | order) << kBankBits | bank;
    due_[bank] = due;
    int64_t& block = first_of_block_[bank / kBlock];
    block = std::min(block, due);
    first_ = std::min(first_, due);
  }
  // The earliest bank, which then has no time.
  uint32_t take() {
    const uint32_t bank = uint32_t(first_ & ((1 << kBankBits) - 1));
    due_[bank] = kNever;
    const int64_t* in_block = &due_[bank / kBlock * kBlock];
    int64_t first = in_block[0];
    for (uint32_t i = 1; i < kBlock; ++i) first = std::min(first, in_block[i]);
    first_of_block_[bank / kBlock] = first;
    first_ = kNever;
    for (size_t i = 0; i < first_of_block_.size(); i += 4) {
      const int64_t* b = &first_of_block_[i];
      first_ = std::min({first_, std::min(b[0], b[1]), std::min(b[2], b[3])});
    }
    return bank;
  }

 private:
  static constexpr int kBankBits = 13, kOrderBits = 11;
  static constexpr uint32_t kBlock = 8;
  std::vector<int64_t> due_;             // tick, order and bank in one number
  std::vector<int64_t> first_of_block_;  // the least of so many banks
  int64_t first_ = kNever;
  uint64_t added_ = 0;
};

}  // namespace daybreak::sim
