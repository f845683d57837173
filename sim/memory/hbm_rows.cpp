#include "sim/memory/hbm_rows.hpp"

#include <algorithm>

namespace daybreak::sim {

RowCommands::RowCommands(const HbmTiming& t, const HbmGeometry& g, int64_t window)
    : t_(t),
      groups_(t.rrd_l > t.rrd_s),
      margin_(std::max(t.rrd_l, t.faw)),
      lanes_of_pc_(groups_ ? uint64_t(1 + g.groups * g.sids) : 1),
      board_(window + margin_, margin_, 1 + g.pcs * int64_t(lanes_of_pc_)),
      recent_(size_t(g.pcs), Recent(g.banks_of_pc())) {}

RowCommands::Recent::Recent(int64_t ahead)
    : ticks_(std::bit_ceil(uint64_t(ahead) + 4), INT64_MIN / 4), mask_(ticks_.size() - 1) {}

int64_t RowCommands::Recent::insert(int64_t tick) {
  uint64_t place = end_++;
  int64_t behind = 0;
  for (; ticks_[(place - 1) & mask_] > tick; --place, ++behind)
    ticks_[place & mask_] = ticks_[(place - 1) & mask_];
  ticks_[place & mask_] = tick;
  return behind;
}

int64_t RowCommands::precharge(int64_t from) {
  const int64_t at = find_free(from, t_.pre_command);
  if (at != kNone) board_.mark(kBus, at, t_.pre_command);
  return at;
}

int64_t RowCommands::activate(int pc, uint16_t group, int64_t from) {
  const uint64_t all = 1 + uint64_t(pc) * lanes_of_pc_;
  const int64_t at = groups_ ? find_free(from, t_.act_command, all, all + 1 + group)
                             : find_free(from, t_.act_command, all);
  if (at != kNone) block(pc, group, at);
  return at;
}

// An activate at `at` takes the bus and keeps others of its pseudo-channel off.
void RowCommands::block(int pc, uint16_t group, int64_t at) {
  const uint64_t all = 1 + uint64_t(pc) * lanes_of_pc_;
  board_.mark(kBus, at, t_.act_command);
  board_.mark(all, at - t_.rrd_s + 1, 2 * t_.rrd_s - 1);
  if (groups_) board_.mark(all + 1 + group, at - t_.rrd_l + 1, 2 * t_.rrd_l - 1);
  // A fifth activate keeps tFAW from the first of any four when it comes behind them, from the last
  // when it comes before, and has no place among them.
  Recent& recent = recent_[size_t(pc)];
  const int64_t behind = recent.insert(at);
  for (int64_t last = std::max<int64_t>(0, behind - 3); last <= behind; ++last) {
    const int64_t begin = recent.last(last + 3), end = recent.last(last);
    if (end - begin < t_.faw) board_.mark(all, end - t_.faw + 1, 2 * t_.faw - 1 - (end - begin));
  }
}

}  // namespace daybreak::sim
