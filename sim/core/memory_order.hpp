// Happens-before checker of the simulated memory: byte-exact intervals, kept per 4 KiB page.
// Launches order what they and their ancestors touched, so all is forgotten when every launch
// still to end comes after every launch that ended.
#pragma once
#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "isa/memory/image.hpp"
#include "sim/core/hazard.hpp"
#include "sim/core/launch_order.hpp"

namespace daybreak::sim {

class MemoryOrder {
 public:
  MemoryOrder(const LaunchOrder& order, const isa::MemoryImage& memory, size_t launches);

  // Throw InvariantError naming both instructions when no edge orders this touch after an earlier
  // one that conflicts. `knowledge.seen` holds, for the toucher's own queue, what is ordered
  // before it.
  void read(Address from, int64_t bytes, const Toucher&, const Knowledge&);
  void write(Address to, int64_t bytes, const Toucher&, const Knowledge&);
  // A read that is checked against earlier writes and not remembered.
  void look(Address from, int64_t bytes, const Toucher&);
  void launch_ended(uint32_t launch);

 private:
  static constexpr uint32_t kNone = ~uint32_t(0);
  struct Interval {
    uint32_t begin, end;  // bytes of the page
    Toucher by;
    uint32_t next = kNone;  // of the same list
  };
  // Intervals of a page in the order of their touches.
  struct List {
    uint32_t first = kNone, last = kNone;
  };
  struct Page {
    List reads, writes;
  };
  static constexpr uint64_t kGroup = 64;  // pages that lie side by side
  using Group = std::array<Page, kGroup>;
  bool ordered(const Toucher& earlier, const Toucher& later, const Knowledge&) const;
  void check(const List&, bool they_write, uint64_t page, const Interval&, bool writes,
             const Knowledge&) const;
  Page& page(uint64_t number);
  void append(List&, const Interval&);
  // Forgets what `mine` covers.
  void erase_covered(List&, const Interval& mine);
  template <class F> void each_page(Address at, int64_t bytes, const Toucher& by, F&& f);

  const LaunchOrder& order_;
  const isa::MemoryImage& memory_;
  std::unordered_map<uint64_t, uint32_t> index_;  // of groups
  std::vector<Group> groups_;
  std::vector<Interval> intervals_;         // of all lists
  uint32_t free_ = kNone;                   // of them, through `next`
  std::vector<uint64_t> ended_, finished_;  // launches, as bits: since the last forgetting; ever
  uint64_t last_number_ = ~uint64_t(0);     // group looked up last, and its place
  uint32_t last_group_ = 0;
};

}  // namespace daybreak::sim
