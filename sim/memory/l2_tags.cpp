#include "sim/memory/l2_tags.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "configs/reader/errors.hpp"

namespace daybreak::sim {
namespace {

constexpr uint64_t kCacheLine = 64;  // of the machine that simulates

int64_t sets_of(const L2Config& c) {
  if (c.line % c.sector != 0 || c.line / c.sector > 64) {
    throw UserError(fmt::format("chip.l2.line of {} B must be 1 to 64 times chip.l2.sector, {} B",
                                c.line, c.sector));
  }
  const int64_t sets = c.capacity_mb * 1024 * 1024 / (c.line * c.ways * c.slices);
  if (sets < 1) {
    throw UserError(fmt::format(
        "chip.l2.capacity of {} MB is below one set in each slice: {} slices of {} ways of {} B",
        c.capacity_mb, c.slices, c.ways, c.line));
  }
  return sets;
}

// Bits [from, to) of a mask; to <= 64.
uint64_t bits(uint64_t from, uint64_t to) {
  if (from >= to) return 0;
  const uint64_t width = to - from;
  return (width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1) << from;
}

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

// Ways side by side, as many as a register of the machine that simulates holds; comparisons give -1
// or 0 for each.
using Tags [[gnu::vector_size(32)]] = uint32_t;
using Ranks [[gnu::vector_size(32)]] = uint16_t;
using Ages [[gnu::vector_size(16)]] = int16_t;
using Flags [[gnu::vector_size(8)]] = int8_t;
constexpr uint64_t kTags = sizeof(Tags) / sizeof(uint32_t);
constexpr uint64_t kRanks = sizeof(Ranks) / sizeof(uint16_t);
constexpr uint64_t kAges = sizeof(Ages) / sizeof(int16_t);

template <class Vector> Vector load(const void* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

// Place of the first one that is set, 8 without one.
uint64_t first_set(Flags flags) {
  uint64_t word;
  std::memcpy(&word, &flags, sizeof word);
  return uint64_t(std::countr_zero(word)) / 8;
}

int16_t greatest(Ages v) {
  const auto greater = [](Ages a, Ages b) { return a > b ? a : b; };
  v = greater(v, __builtin_shuffle(v, Ages{4, 5, 6, 7, 0, 1, 2, 3}));
  v = greater(v, __builtin_shuffle(v, Ages{2, 3, 0, 1, 6, 7, 4, 5}));
  v = greater(v, __builtin_shuffle(v, Ages{1, 0, 3, 2, 5, 4, 7, 6}));
  return v[0];
}

}  // namespace

L2Tags::L2Tags(const L2Config& c)
    : line_(c.line),
      slices_(c.slices),
      sets_(sets_of(c)),
      sector_(c.sector),
      ways_(round_up(uint64_t(c.ways), kRanks)),
      sectors_(bits(0, uint64_t(c.line / c.sector))),
      mask_bytes_((uint64_t(c.line / c.sector) + 7) / 8),
      ranks_(ways_ * sizeof(uint32_t)),
      masks_(ranks_ + ways_ * sizeof(uint16_t)),
      dirty_behind_(ways_ * mask_bytes_),
      set_bytes_(round_up(masks_ + 2 * dirty_behind_, kCacheLine)) {
  const uint64_t sets = uint64_t(c.slices) * sets_.count();
  // A mask is read as a word: the last one reaches beyond its set.
  sets_memory_.assign(sets * set_bytes_ + 2 * kCacheLine, 0);
  base_ = sets_memory_.data();
  base_ +=
      round_up(reinterpret_cast<uintptr_t>(base_), kCacheLine) - reinterpret_cast<uintptr_t>(base_);
  for (uint64_t set = 0; set < sets; ++set) {
    std::fill_n(tags(set_at(set)), ways_, kEmpty);
    for (uint64_t way = 0; way < ways_; ++way) {
      ranks(set_at(set))[way] =
          way < uint64_t(c.ways) ? uint16_t(uint64_t(c.ways) - 1 - way) : kBound;
    }
  }
}

// Makes a way the youngest: those that were younger age.
void L2Tags::use(uint8_t* set, uint64_t way) {
  uint16_t* rank = ranks(set);
  const uint16_t age = rank[way] & kRank, bound = rank[way] & kBound;
  for (uint64_t first = 0; first < ways_; first += kRanks) {
    auto block = load<Ranks>(rank + first);
    block -= Ranks((block & kRank) < age);
    std::memcpy(rank + first, &block, sizeof block);
  }
  rank[way] = bound;
}

int64_t L2Tags::find(uint64_t line) {
  const uint64_t set = set_of(line);
  if (line >= kEmpty) return kAbsent;
  uint8_t* const at = set_at(set);
  for (uint64_t first = 0; first < ways_; first += kTags) {
    const auto equal = load<Tags>(tags(at) + first) == uint32_t(line);
    const uint64_t i = first_set(__builtin_convertvector(equal, Flags));
    if (i == kTags) continue;
    use(at, first + i);
    return int64_t(set << kWayBits | (first + i));
  }
  return kAbsent;
}

int64_t L2Tags::victim(uint64_t line) const {
  const uint64_t set = set_of(line);
  const uint8_t* rank = set_at(set) + ranks_;
  int16_t oldest = -1;  // bound ones are below
  uint64_t way = 0;
  for (uint64_t first = 0; first < ways_; first += kAges) {
    const auto ages = load<Ages>(rank + first * sizeof(uint16_t));
    const int16_t most = greatest(ages);
    if (most <= oldest) continue;
    oldest = most;
    way = first + first_set(__builtin_convertvector(ages == most, Flags));
  }
  return oldest < 0 ? kAbsent : int64_t(set << kWayBits | way);
}

bool L2Tags::used(int64_t place) const {
  return reinterpret_cast<const uint32_t*>(set_at(set_of_place(place)))[way_of(place)] != kEmpty;
}

uint64_t L2Tags::line(int64_t place) const {
  const uint64_t of_all = set_of_place(place);
  const uint64_t slice = of_all / sets_.count(), set = of_all % sets_.count();
  const uint64_t tag = reinterpret_cast<const uint32_t*>(set_at(of_all))[way_of(place)];
  return (tag * sets_.count() + set) * slices_.count() + slice;
}

void L2Tags::replace(int64_t place, uint64_t line) {
  uint8_t* const at = set_at(set_of(line));
  if (line >= kEmpty) {
    throw InvariantError(fmt::format("an address has the L2 tag {}, which exceeds 32 bits", line));
  }
  const uint64_t way = way_of(place);
  tags(at)[way] = uint32_t(line);
  use(at, way);
  clear(valid_at(place));
  clear(valid_at(place) + dirty_behind_);
}

void L2Tags::bind(int64_t place, bool bound) {
  uint16_t& rank = ranks(set_at(set_of_place(place)))[way_of(place)];
  rank = uint16_t(bound ? rank | kBound : rank & kRank);
}

uint64_t L2Tags::touched(uint64_t offset, uint64_t bytes) const {
  uint64_t first = offset, last = offset + bytes - 1;
  sector_.take(first);
  sector_.take(last);
  return bits(first, last + 1);
}

uint64_t L2Tags::covered(uint64_t offset, uint64_t bytes) const {
  uint64_t first = offset + sector_.count() - 1, end = offset + bytes;
  sector_.take(first);
  sector_.take(end);
  return bits(first, end);
}

}  // namespace daybreak::sim
