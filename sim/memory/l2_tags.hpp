// Tags of the L2: lines by slice, set and way, with sector masks and the age of their last use.
// Timing and fetches are the business of memory_system.cpp.
//
// Line n lies in slice n % slices and there in set (n / slices) % sets; counts need not be powers
// of two. Replacement: an empty way, else the least recently used one that no fetch is bound to.
#pragma once
#include <cstdint>
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

  int64_t slice_of(uint64_t line) const { return int64_t(slices_.take(line)); }
  // Hints that a line will be looked up, or a place changed, soon.
  void prefetch_line(uint64_t line) const {
    const int64_t first = first_way(line);
    for (int64_t way = first; way < first + ways_; way += 2) __builtin_prefetch(&lines_[way]);
  }
  void prefetch_place(int64_t place) const {
    __builtin_prefetch(&lines_[place]);
    __builtin_prefetch(&fetch_[place]);
  }
  // Place of a line that is held, kAbsent otherwise. A hit counts as a use.
  int64_t find(uint64_t line);
  // Place for a line that is absent: the victim, whose number and masks the caller still reads, or
  // kAbsent when every way is bound to a fetch.
  int64_t victim(uint64_t line) const;
  // Puts an absent line at a victim's place, all sectors empty.
  void replace(int64_t place, uint64_t line);

  bool used(int64_t place) const { return lines_[place].tag != kEmpty; }
  uint64_t line(int64_t place) const { return lines_[place].tag; }
  uint64_t& valid(int64_t place) { return lines_[place].valid; }
  uint64_t& dirty(int64_t place) { return lines_[place].dirty; }
  // First fetch in flight for the line, -1 without one.
  int32_t& fetch(int64_t place) { return fetch_[place]; }

  int64_t line_bytes() const { return line_bytes_; }
  int64_t sector_bytes() const { return sector_bytes_; }
  // Sectors of a line that [offset, offset + bytes) touches.
  uint64_t touched(uint64_t offset, uint64_t bytes) const;
  // Sectors that it covers from end to end.
  uint64_t covered(uint64_t offset, uint64_t bytes) const;

 private:
  static constexpr uint64_t kEmpty = ~uint64_t{0};
  int64_t first_way(uint64_t line) const {
    const uint64_t slice = slices_.take(line), set = sets_.take(line);
    return int64_t((slice * sets_.count() + set) * uint64_t(ways_));
  }

  int64_t line_bytes_, sector_bytes_, ways_;
  Divisor slices_, sets_, sector_;
  uint64_t clock_ = 0;
  // The ways of a set lie side by side: a look-up touches one page.
  struct Line {
    uint64_t tag = kEmpty, last_use = 0, valid = 0, dirty = 0;
  };
  std::vector<Line> lines_;
  std::vector<int32_t> fetch_;
};

}  // namespace daybreak::sim
