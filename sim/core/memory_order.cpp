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

void MemoryOrder::check(const std::vector<Interval>& others, bool they_write, uint64_t page,
                        const Interval& mine, bool writes, const Knowledge& knowledge) const {
  for (const Interval& o : others) {
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
  if (number == last_number_) return *last_page_;
  const auto [at, fresh] = index_.try_emplace(number, uint32_t(pages_.size()));
  if (fresh) pages_.emplace_back();
  last_number_ = number;
  return *(last_page_ = &pages_[at->second]);
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
    if (!p.reads.empty()) {
      Interval& last = p.reads.back();
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
    p.reads.push_back(mine);
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
    const auto covered = [&](const Interval& o) {
      return o.begin >= mine.begin && o.end <= mine.end;
    };
    std::erase_if(p.reads, covered);
    std::erase_if(p.writes, covered);
    if (!p.writes.empty() && same_instruction(p.writes.back().by, by) &&
        p.writes.back().end == mine.begin) {
      p.writes.back().end = mine.end;
      return;
    }
    p.writes.push_back(mine);
  });
}

void MemoryOrder::launch_ended(uint32_t launch) {
  const uint64_t bit = uint64_t(1) << (launch % 64);
  ended_[launch / 64] |= bit;
  finished_[launch / 64] |= bit;
  if (!order_.all_before_rest(ended_, finished_)) return;
  index_.clear();
  pages_.clear();
  last_number_ = ~uint64_t(0);
  std::fill(ended_.begin(), ended_.end(), 0);
}

}  // namespace daybreak::sim
