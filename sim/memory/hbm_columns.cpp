#include "sim/memory/hbm_columns.hpp"

#include <algorithm>
#include <bit>

namespace daybreak::sim {
namespace {

constexpr int64_t kLongAgo = INT64_MIN / 4;

// Slots that columns `ccd` apart from `atoms` columns, `step` apart themselves, may not use, from
// the first column's slot - ccd + 1 on.
uint64_t blocked_pattern(int64_t atoms, int64_t step, int64_t ccd) {
  uint64_t pattern = 0;
  for (int64_t i = 0; i < atoms; ++i) {
    for (int64_t k = 0; k < std::min<int64_t>(2 * ccd - 1, 64); ++k) {
      if (i * step + k < 64) pattern |= uint64_t{1} << (i * step + k);
    }
  }
  return pattern;
}

// The pattern, or a single column's whole range where that does not fit 64 slots.
void block(SlotRing& ring, int64_t clock, int64_t ccd, uint64_t pattern) {
  if (2 * ccd - 1 <= 64) return ring.mark_bits(clock - ccd + 1, pattern);
  ring.mark(clock - ccd + 1, 2 * ccd - 1);
}

}  // namespace

ColumnCommands::Pc::Pc(int64_t clocks, const HbmGeometry& g, bool sids)
    : any(clocks),
      last_write_group(g.groups * g.sids, kLongAgo),
      last_read(kLongAgo),
      last_write(kLongAgo) {
  by_group.assign(g.groups * g.sids, SlotRing(clocks));
  if (sids) by_sid.assign(g.sids, SlotRing(clocks));
}

ColumnCommands::ColumnCommands(const HbmTiming& t, const HbmGeometry& g, int64_t window)
    : t_(t), sids_(g.sids > 1 && t.ccd_r > t.ccd_s), bus_(window) {
  // A booking's columns with what they block before and after must fit one 64-bit pattern.
  const int64_t blocked = 2 * (g.sids > 1 ? t_.ccd_r : t_.ccd_s) - 1;
  most_ = std::max<int64_t>(1, (64 - blocked) / t_.ccd_l + 1);
  if (sids_) most_ = std::min<int64_t>(most_, 8);  // then the others get their turn
  for (int64_t n = 0; n <= most_; ++n) {
    bus_pattern_.push_back(blocked_pattern(n, t_.ccd_l, 1));
    pc_pattern_.push_back(blocked_pattern(n, t_.ccd_l, t_.ccd_s));
    sid_pattern_.push_back(blocked_pattern(n, t_.ccd_l, t_.ccd_r));
  }
  for (int64_t p = 0; p < g.pcs; ++p) pcs_.emplace_back(window, g, sids_);
}

void ColumnCommands::advance(int p, int64_t clock) {
  Pc& pc = pcs_[p];
  bus_.advance(clock);
  if (clock - pc.advanced < 64) return;
  pc.advanced = clock;
  pc.any.advance(clock);
  for (SlotRing& ring : pc.by_group) ring.advance(clock);
  for (SlotRing& ring : pc.by_sid) ring.advance(clock);
}

int64_t ColumnCommands::last(int pc, bool write) const {
  return write ? pcs_[pc].last_write : pcs_[pc].last_read;
}

int64_t ColumnCommands::turned(const HbmBank& bank, bool write) const {
  const Pc& pc = pcs_[bank.pc];
  if (write) return pc.last_read + t_.rtw;
  const int64_t data = t_.cwl + t_.burst;
  return std::max(pc.last_write + data + t_.wtr_s,
                  pc.last_write_group[bank.group] + data + t_.wtr_l);
}

int64_t ColumnCommands::find(const HbmBank& bank, int64_t from, int64_t atoms) const {
  const Pc& pc = pcs_[bank.pc];
  const SlotRing& group = pc.by_group[bank.group];
  const SlotRing* sid = pc.by_sid.empty() ? nullptr : &pc.by_sid[bank.sid];
  const int64_t limit = bus_.limit() - 192 - 2 * t_.ccd_l;
  auto busy = [&](int64_t at) {
    return bus_.bits(at) | pc.any.bits(at) | group.bits(at) | (sid ? sid->bits(at) : 0);
  };
  int64_t at = from;
  if (at >= limit) return kNone;
  uint64_t low = ~busy(at);
  while (at < limit) {
    const uint64_t high = ~busy(at + 64);
    uint64_t ok = low;
    for (int64_t i = 1; i < atoms && ok != 0; ++i) {
      const int64_t shift = i * t_.ccd_l;  // below 64: most_ sees to it
      ok &= low >> shift | high << (64 - shift);
    }
    if (ok != 0) return at + std::countr_zero(ok);
    low = high;
    at += 64;
  }
  return kNone;
}

void ColumnCommands::book(const HbmBank& bank, bool write, int64_t clock, int64_t atoms) {
  Pc& pc = pcs_[bank.pc];
  bus_.mark_bits(clock, bus_pattern_[atoms]);
  block(pc.any, clock, t_.ccd_s, pc_pattern_[atoms]);
  for (size_t other = 0; other < pc.by_sid.size(); ++other) {
    if (other != bank.sid) block(pc.by_sid[other], clock, t_.ccd_r, sid_pattern_[atoms]);
  }
  const int64_t span = (atoms - 1) * t_.ccd_l + 1;
  pc.by_group[bank.group].mark(clock - t_.ccd_l + 1, span + 2 * t_.ccd_l - 2);
  const int64_t last = (clock + (atoms - 1) * t_.ccd_l) << t_.shift;
  if (!write) {
    pc.last_read = std::max(pc.last_read, last);
    return;
  }
  pc.last_write = std::max(pc.last_write, last);
  pc.last_write_group[bank.group] = std::max(pc.last_write_group[bank.group], last);
}

}  // namespace daybreak::sim
