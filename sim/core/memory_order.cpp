#include "sim/core/memory_order.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace daybreak::sim {
namespace {

constexpr uint64_t kPage = 4096;

bool same_instruction(const Toucher& a, const Toucher& b) {
  return a.launch == b.launch && a.task == b.task && a.entry == b.entry;
}

}  // namespace

MemoryOrder::MemoryOrder(const LaunchOrder& order, const isa::MemoryImage& memory, size_t launches)
    : order_(order), memory_(memory), ended_((launches + 63) / 64), finished_(ended_.size()) {}

bool MemoryOrder::ordered(const Toucher& earlier, const Toucher& later,
                          const Knowledge& knowledge) const {
  if (earlier.launch != later.launch) return order_.before(earlier.launch, later.launch);
  if (earlier.task != later.task)
    return knowledge.knows(earlier.task, earlier.queue, earlier.sequence);
  return earlier.entry == later.entry || knowledge.seen[int(earlier.queue)] >= earlier.sequence;
}

void MemoryOrder::check(const List& others, bool they_write, uint64_t page, const Interval& mine,
                        bool writes, const Knowledge& knowledge) const {
  for (uint32_t i = others.first; i != kNone; i = intervals_[i].next) {
    const Interval& o = intervals_[i];
    if (o.begin >= mine.end || mine.begin >= o.end || ordered(o.by, mine.by, knowledge)) continue;
    const Address at(page * kPage + std::max(o.begin, mine.begin));
    const std::string where = fmt::format("memory at {}", memory_.name_of(at));
    const bool swapped =
        o.by.launch == mine.by.launch && o.by.task == mine.by.task && mine.by.entry < o.by.entry;
    if (swapped) throw_unordered(mine.by, writes, o.by, they_write, where);
    throw_unordered(o.by, they_write, mine.by, writes, where);
  }
}

MemoryOrder::Page& MemoryOrder::page(uint64_t number) {
  const uint64_t group = number / kGroup;
  if (group != last_number_) {
    const auto [at, fresh] = index_.try_emplace(group, uint32_t(groups_.size()));
    if (fresh) groups_.emplace_back();
    last_number_ = group;
    last_group_ = at->second;
  }
  return groups_[last_group_][number % kGroup];
}

void MemoryOrder::append(List& list, const Interval& mine) {
  uint32_t index = free_;
  if (index == kNone) {
    index = uint32_t(intervals_.size());
    intervals_.push_back(mine);
  } else {
    free_ = intervals_[index].next;
    intervals_[index] = mine;
  }
  (list.first == kNone ? list.first : intervals_[list.last].next) = index;
  list.last = index;
}

void MemoryOrder::erase_covered(List& list, const Interval& mine) {
  uint32_t before = kNone;
  for (uint32_t i = list.first; i != kNone;) {
    Interval& o = intervals_[i];
    const uint32_t next = o.next;
    if (o.begin < mine.begin || o.end > mine.end) {
      before = i;
    } else {
      (before == kNone ? list.first : intervals_[before].next) = next;
      o.next = free_;
      free_ = i;
    }
    i = next;
  }
  list.last = before;
}

template <class F>
void MemoryOrder::each_page(Address at, int64_t bytes, const Toucher& by, F&& f) {
  uint64_t a = at.value;
  const uint64_t end = a + uint64_t(bytes);
  while (a < end) {
    const uint64_t number = a / kPage, stop = std::min(end, (number + 1) * kPage);
    f(number, page(number),
      Interval{uint32_t(a - number * kPage), uint32_t(stop - number * kPage), by});
    a = stop;
  }
}

void MemoryOrder::read(Address from, int64_t bytes, const Toucher& by, const Knowledge& knowledge) {
  each_page(from, bytes, by, [&](uint64_t number, Page& p, const Interval& mine) {
    check(p.writes, true, number, mine, false, knowledge);
    if (p.reads.first != kNone) {
      Interval& last = intervals_[p.reads.last];
      if (same_instruction(last.by, by) && last.end == mine.begin) {
        last.end = mine.end;
        return;
      }
      if (last.begin == mine.begin && last.end == mine.end && last.by.launch == by.launch &&
          last.by.task == by.task && last.by.queue == by.queue) {
        last.by = by;
        return;
      }
    }
    append(p.reads, mine);
  });
}

void MemoryOrder::look(Address from, int64_t bytes, const Toucher& by) {
  each_page(from, bytes, by, [&](uint64_t number, Page& p, const Interval& mine) {
    check(p.writes, true, number, mine, false, {});
  });
}

void MemoryOrder::write(Address to, int64_t bytes, const Toucher& by, const Knowledge& knowledge) {
  each_page(to, bytes, by, [&](uint64_t number, Page& p, const Interval& mine) {
    check(p.writes, true, number, mine, true, knowledge);
    check(p.reads, false, number, mine, true, knowledge);
    // What this write covers is ordered before it: whoever comes after this write comes after that.
    erase_covered(p.reads, mine);
    erase_covered(p.writes, mine);
    if (p.writes.first != kNone) {
      Interval& last = intervals_[p.writes.last];
      if (same_instruction(last.by, by) && last.end == mine.begin) {
        last.end = mine.end;
        return;
      }
    }
    append(p.writes, mine);
  });
}

void MemoryOrder::launch_ended(uint32_t launch) {
  const uint64_t bit = uint64_t(1) << (launch % 64);
  ended_[launch / 64] |= bit;
  finished_[launch / 64] |= bit;
  if (!order_.all_before_rest(ended_, finished_)) return;
  index_.clear();
  groups_.clear();
  intervals_.clear();
  free_ = kNone;
  last_number_ = ~uint64_t(0);
  std::fill(ended_.begin(), ended_.end(), 0);
}

}  // namespace daybreak::sim
