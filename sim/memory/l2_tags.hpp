// Tags of the L2: lines by slice, set and way, with sector masks and the order of their last use.
// Timing and fetches are the business of fabric.cpp.
//
// Line n lies in slice n % slices and there in set (n / slices) % sets; counts need not be powers
// of two. Replacement: an empty way, else the least recently used one that no fetch is bound to.
//
// What belongs to a set lies together, two lines of a cache for 16 ways of 8 sectors, because most
// sets are cold: tags, ranks (how many ways were used since; the highest bit binds a way to a
// fetch), valid and dirty masks of as many bytes as they need. Ways are padded to blocks of 16 with
// ways that are bound for good.
#pragma once
#include <cstdint>
#include <cstring>
#include <vector>

#include "sim/chip/config.hpp"
#include "sim/memory/address_map.hpp"

namespace daybreak::sim {

class L2Tags {
 public:
  static constexpr int64_t kAbsent = -1;

  // Throws UserError when sectors do not divide a line, a line has more than 64, or a slice has no
  // set.
  explicit L2Tags(const L2Config&);

  // Line that holds an address, and where in it.
  uint64_t line_of(uint64_t address) const {
    line_.take(address);
    return address;
  }
  uint64_t offset_of(uint64_t address) const { return line_.take(address); }
  int64_t slice_of(uint64_t line) const { return int64_t(slices_.take(line)); }
  // Hints that a line will be looked up, or a place changed, soon.
  void prefetch_line(uint64_t line) const {
    const uint8_t* set = set_at(set_of(line));
    for (uint64_t at = 0; at < set_bytes_; at += 64) __builtin_prefetch(set + at);
  }
  void prefetch_place(int64_t place) const { __builtin_prefetch(valid_at(place)); }
  // Place of a line that is held, kAbsent otherwise. A hit counts as a use.
  int64_t find(uint64_t line);
  // Place for a line that is absent: the victim, whose number and masks the caller still reads, or
  // kAbsent when every way is bound to a fetch.
  int64_t victim(uint64_t line) const;
  // Puts an absent line at a victim's place, all sectors empty.
  void replace(int64_t place, uint64_t line);

  bool used(int64_t place) const;
  uint64_t line(int64_t place) const;
  uint64_t valid(int64_t place) const { return mask(valid_at(place)); }
  uint64_t dirty(int64_t place) const { return mask(valid_at(place) + dirty_behind_); }
  void add_valid(int64_t place, uint64_t sectors) { add(valid_at(place), sectors); }
  void add_dirty(int64_t place, uint64_t sectors) { add(valid_at(place) + dirty_behind_, sectors); }
  // While a fetch is in flight for the line.
  void bind(int64_t place, bool bound);

  int64_t line_bytes() const { return int64_t(line_.count()); }
  int64_t sector_bytes() const { return int64_t(sector_.count()); }
  // Sectors of a line that [offset, offset + bytes) touches.
  uint64_t touched(uint64_t offset, uint64_t bytes) const;
  // Sectors that it covers from end to end.
  uint64_t covered(uint64_t offset, uint64_t bytes) const;

 private:
  static constexpr uint32_t kEmpty = ~uint32_t{0};
  static constexpr int kWayBits = 16;                         // of a place; the rest is the set
  static constexpr uint16_t kBound = 0x8000, kRank = 0x7FFF;  // of a rank

  // Leaves the tag in `line`.
  uint64_t set_of(uint64_t& line) const {
    const uint64_t slice = slices_.take(line), set = sets_.take(line);
    return slice * sets_.count() + set;
  }
  const uint8_t* set_at(uint64_t set) const { return base_ + set * set_bytes_; }
  uint8_t* set_at(uint64_t set) { return base_ + set * set_bytes_; }
  static uint64_t way_of(int64_t place) { return uint64_t(place) & ((1 << kWayBits) - 1); }
  static uint64_t set_of_place(int64_t place) { return uint64_t(place) >> kWayBits; }
  uint64_t valid_behind(int64_t place) const { return masks_ + way_of(place) * mask_bytes_; }
  const uint8_t* valid_at(int64_t place) const {
    return set_at(set_of_place(place)) + valid_behind(place);
  }
  uint8_t* valid_at(int64_t place) { return set_at(set_of_place(place)) + valid_behind(place); }
  uint64_t mask(const uint8_t* at) const {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    return word & sectors_;
  }
  // Neighbouring masks in the word stay as they are.
  static void add(uint8_t* at, uint64_t sectors) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    word |= sectors;
    std::memcpy(at, &word, sizeof word);
  }
  void clear(uint8_t* at) const {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    word &= ~sectors_;
    std::memcpy(at, &word, sizeof word);
  }
  uint32_t* tags(uint8_t* set) const { return reinterpret_cast<uint32_t*>(set); }
  uint16_t* ranks(uint8_t* set) const { return reinterpret_cast<uint16_t*>(set + ranks_); }
  void use(uint8_t* set, uint64_t way);

  Divisor line_, slices_, sets_, sector_;
  uint64_t ways_;           // padded
  uint64_t sectors_;        // mask of all sectors of a line
  uint64_t mask_bytes_;     // of one mask
  uint64_t ranks_, masks_;  // where they begin in a set
  uint64_t dirty_behind_;   // from a valid mask to the dirty one
  uint64_t set_bytes_;
  std::vector<uint8_t> sets_memory_;
  uint8_t* base_;  // in it, at a cache line's begin
};

}  // namespace daybreak::sim
