#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "configs/reader/errors.hpp"
#include "configs/reader/words.hpp"
#include "sim/memory/traffic.hpp"

namespace daybreak::sim {
namespace {

// 64 bytes after 64 bytes, round and round; every third one may be a write to the upper half.
class Sequence : public TrafficSource {
 public:
  Sequence(uint64_t span, bool mixed) : span_(mixed ? span / 2 : span), mixed_(mixed) {}
  Burst next() override {
    if (mixed_ && turn_++ % 3 == 2)
      return {.address = Address(span_ + step(writes_)), .bytes = 64, .write = true};
    return {.address = Address(step(reads_)), .bytes = 64};
  }

 private:
  uint64_t step(uint64_t& at) const {
    const uint64_t now = at;
    at = (at + 64) % span_;
    return now;
  }
  uint64_t span_, turn_ = 0, reads_ = 0, writes_ = 0;
  bool mixed_;
};

class Scattered : public TrafficSource {
 public:
  Scattered(uint64_t span, uint32_t bytes, bool mixed, uint64_t seed)
      : random_(seed), count_(span / bytes), bytes_(bytes), mixed_(mixed) {}
  Burst next() override {
    return {.address = Address(random_.below(count_) * bytes_),
            .bytes = bytes_,
            .write = mixed_ && turn_++ % 3 == 2};
  }

 private:
  SplitMix random_;
  uint64_t count_, turn_ = 0;
  uint32_t bytes_;
  bool mixed_;
};

class Gather : public TrafficSource {
 public:
  static constexpr uint32_t kRowBytes = 656;
  Gather(uint64_t rows, uint64_t topk, bool sorted, uint64_t seed)
      : random_(seed), rows_(rows), topk_(std::min(rows, topk)), sorted_(sorted) {}
  Burst next() override {
    if (at_ == table_.size()) fill();
    return {.address = Address(table_[at_++] * kRowBytes), .bytes = kRowBytes};
  }

 private:
  void fill() {
    std::unordered_set<uint64_t> chosen;
    table_.clear();
    while (table_.size() < topk_) {
      const uint64_t row = random_.below(rows_);
      if (chosen.insert(row).second) table_.push_back(row);
    }
    if (sorted_) std::sort(table_.begin(), table_.end());
    at_ = 0;
  }
  SplitMix random_;
  uint64_t rows_, topk_;
  bool sorted_;
  std::vector<uint64_t> table_;
  size_t at_ = 0;
};

// N of "rowN", 0 for another word.
uint32_t row_bytes(const std::string& pattern) {
  if (pattern.rfind("row", 0) != 0) return 0;
  uint32_t bytes = 0;
  const char *begin = pattern.data() + 3, *end = pattern.data() + pattern.size();
  const auto [stop, error] = std::from_chars(begin, end, bytes);
  return error == std::errc() && stop == end && bytes <= (1u << 20) ? bytes : 0;
}

}  // namespace

uint64_t SplitMix::next() {
  uint64_t z = state_ += 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}

std::vector<std::string> pattern_names() {
  return {"seq",     "rand64",   "row128", "row640", "row656",
          "row1152", "row41984", "mixseq", "randmix"};
}

std::unique_ptr<TrafficSource> make_pattern(const std::string& pattern, uint64_t span,
                                            uint64_t seed) {
  if (pattern == "seq") return std::make_unique<Sequence>(span, false);
  if (pattern == "mixseq") return std::make_unique<Sequence>(span, true);
  if (pattern == "rand64") return std::make_unique<Scattered>(span, 64, false, seed);
  if (pattern == "randmix") return std::make_unique<Scattered>(span, 64, true, seed);
  if (const uint32_t bytes = row_bytes(pattern))
    return std::make_unique<Scattered>(span, bytes, false, seed);
  throw UserError("run dram: pattern: " + configs::in_quotes(pattern) + " is not " +
                  configs::any_of(pattern_names()) +
                  configs::did_you_mean(pattern, pattern_names()));
}

std::unique_ptr<TrafficSource> make_gather(uint64_t rows, uint64_t topk, bool sorted,
                                           uint64_t seed) {
  return std::make_unique<Gather>(rows, topk, sorted, seed);
}

}  // namespace daybreak::sim
