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
    for (int64_t way = first; way < first + ways_; way += 16) __builtin_prefetch(&tag_[way]);
    for (int64_t way = first; way < first + ways_; way += 8) __builtin_prefetch(&last_use_[way]);
  }
  void prefetch_place(int64_t place) const {
    __builtin_prefetch(&sectors_[place]);
    __builtin_prefetch(&fetch_[place]);
  }
  // Place of a line that is held, kAbsent otherwise. A hit counts as a use.
  int64_t find(uint64_t line);
  // Place for a line that is absent: the victim, whose number and masks the caller still reads, or
  // kAbsent when every way is bound to a fetch.
  int64_t victim(uint64_t line) const;
  // Puts an absent line at a victim's place, all sectors empty.
  void replace(int64_t place, uint64_t line);

  bool used(int64_t place) const { return tag_[place] != kEmpty; }
  uint64_t line(int64_t place) const;
  uint64_t& valid(int64_t place) { return sectors_[place].valid; }
  uint64_t& dirty(int64_t place) { return sectors_[place].dirty; }
  // First fetch in flight for the line, -1 without one.
  int32_t& fetch(int64_t place) { return fetch_[place]; }

  int64_t line_bytes() const { return line_bytes_; }
  int64_t sector_bytes() const { return sector_bytes_; }
  // Sectors of a line that [offset, offset + bytes) touches.
  uint64_t touched(uint64_t offset, uint64_t bytes) const;
  // Sectors that it covers from end to end.
  uint64_t covered(uint64_t offset, uint64_t bytes) const;

 private:
  static constexpr uint32_t kEmpty = ~uint32_t{0};
  // Leaves the tag in `line`.
  int64_t first_way(uint64_t& line) const {
    const uint64_t slice = slices_.take(line), set = sets_.take(line);
    return int64_t((slice * sets_.count() + set) * uint64_t(ways_));
  }

  int64_t line_bytes_, sector_bytes_, ways_;
  Divisor slices_, sets_, sector_;
  uint64_t clock_ = 0;
  struct Sectors {
    uint64_t valid = 0, dirty = 0;
  };
  // By place; the ways of a set lie side by side, so the tags of 16 ways are one line of a cache.
  std::vector<uint32_t> tag_;
  std::vector<uint64_t> last_use_;  // 0: empty
  std::vector<Sectors> sectors_;
  std::vector<int32_t> fetch_;
};

}  // namespace daybreak::sim
