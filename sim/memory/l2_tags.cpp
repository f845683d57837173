#include "sim/memory/l2_tags.hpp"

#include <fmt/core.h>

#include "configs/reader/errors.hpp"

namespace daybreak::sim {
namespace {

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

}  // namespace

L2Tags::L2Tags(const L2Config& c)
    : line_bytes_(c.line),
      sector_bytes_(c.sector),
      ways_(c.ways),
      slices_(c.slices),
      sets_(sets_of(c)),
      sector_(c.sector) {
  const size_t places = size_t(c.slices) * sets_.count() * size_t(c.ways);
  tag_.assign(places, kEmpty);
  last_use_.assign(places, 0);
  sectors_.resize(places);
  fetch_.assign(places, -1);
}

int64_t L2Tags::find(uint64_t line) {
  const int64_t first = first_way(line);
  if (line >= kEmpty) return kAbsent;
  const uint32_t* tags = &tag_[first];
  int64_t found = kAbsent;
  // Without a way out, so that it becomes a few wide compares.
  for (int64_t way = 0; way < ways_; ++way) found = tags[way] == line ? way : found;
  if (found == kAbsent) return kAbsent;
  last_use_[first + found] = ++clock_;
  return first + found;
}

int64_t L2Tags::victim(uint64_t line) const {
  const int64_t first = first_way(line);
  int64_t best = kAbsent;
  uint64_t oldest = ~uint64_t{0};
  for (int64_t way = first; way < first + ways_; ++way) {
    if (last_use_[way] >= oldest || fetch_[way] >= 0) continue;
    best = way;
    oldest = last_use_[way];
  }
  return best;
}

uint64_t L2Tags::line(int64_t place) const {
  const uint64_t set_of_all = uint64_t(place / ways_);
  const uint64_t slice = set_of_all / sets_.count(), set = set_of_all % sets_.count();
  return (tag_[place] * sets_.count() + set) * slices_.count() + slice;
}

void L2Tags::replace(int64_t place, uint64_t line) {
  first_way(line);
  if (line >= kEmpty) {
    throw InvariantError(fmt::format("an address has the L2 tag {}, which exceeds 32 bits", line));
  }
  tag_[place] = uint32_t(line);
  last_use_[place] = ++clock_;
  sectors_[place] = {};
}

uint64_t L2Tags::touched(uint64_t offset, uint64_t bytes) const {
  uint64_t first = offset, last = offset + bytes - 1;
  sector_.take(first);
  sector_.take(last);
  return bits(first, last + 1);
}

uint64_t L2Tags::covered(uint64_t offset, uint64_t bytes) const {
  uint64_t first = offset + uint64_t(sector_bytes_) - 1, end = offset + bytes;
  sector_.take(first);
  sector_.take(end);
  return bits(first, end);
}

}  // namespace daybreak::sim
