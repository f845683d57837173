#include "sim/memory/hbm_columns.hpp"

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
void block(SlotBoard& board, uint64_t lane, int64_t clock, int64_t ccd, uint64_t pattern) {
  if (2 * ccd - 1 <= 64) return board.mark_bits(lane, clock - ccd + 1, pattern);
  board.mark(lane, clock - ccd + 1, 2 * ccd - 1);
}

}  // namespace

ColumnCommands::ColumnCommands(const HbmTiming& t, const HbmGeometry& g, int64_t window)
    : t_(t),
      sids_(g.sids > 1 && t.ccd_r > t.ccd_s ? g.sids : 0),
      first_sid_(uint64_t(1 + g.groups * g.sids)),
      lanes_of_pc_(first_sid_ + uint64_t(sids_)),
      board_(window, std::max(t.ccd_l, t.ccd_r), g.pcs * int64_t(lanes_of_pc_)),
      free_(size_t(g.pcs) * lanes_of_pc_, 0),
      pcs_(size_t(g.pcs),
           {.last_write_group = std::vector<int64_t>(size_t(g.groups * g.sids), kLongAgo),
            .last_read = kLongAgo,
            .last_write = kLongAgo}) {
  // A booking's columns with what they block before and after must fit one 64-bit pattern.
  const int64_t blocked = 2 * (g.sids > 1 ? t_.ccd_r : t_.ccd_s) - 1;
  most_ = std::max<int64_t>(1, (64 - blocked) / t_.ccd_l + 1);
  if (sids_ > 0) most_ = std::min<int64_t>(most_, 8);  // then the others get their turn
  for (int64_t n = 0; n <= most_; ++n) {
    taken_.push_back({.bus = blocked_pattern(n, t_.ccd_l, 1),
                      .pc = blocked_pattern(n, t_.ccd_l, t_.ccd_s),
                      .sid = blocked_pattern(n, t_.ccd_l, t_.ccd_r)});
  }
}

void ColumnCommands::book(const HbmBank& bank, bool write, int64_t clock, int64_t atoms) {
  const uint64_t all = bank.pc * lanes_of_pc_;
  const Taken& taken = taken_[size_t(atoms)];
  for (uint64_t pc = 0; pc < free_.size(); pc += lanes_of_pc_)
    if (pc != all) board_.mark_bits(pc, clock, taken.bus);
  block(board_, all, clock, t_.ccd_s, taken.pc);
  for (int64_t other = 0; other < sids_; ++other) {
    if (other == bank.sid) continue;
    block(board_, all + first_sid_ + uint64_t(other), clock, t_.ccd_r, taken.sid);
  }
  const int64_t steps = (atoms - 1) * t_.ccd_l;
  board_.mark(all + 1 + bank.group, clock - t_.ccd_l + 1, steps + 2 * t_.ccd_l - 1);
  const int64_t last = (clock + steps) << t_.shift;
  Pc& pc = pcs_[bank.pc];
  if (!write) {
    pc.last_read = std::max(pc.last_read, last);
    return;
  }
  pc.last_write = std::max(pc.last_write, last);
  pc.last_write_group[bank.group] = std::max(pc.last_write_group[bank.group], last);
}

}  // namespace daybreak::sim
