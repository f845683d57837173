// HBM timing in integers. A clock is one tck; a tick is one tck, or half of one when a row command
// takes half clocks. Knobs in ns are rounded up to whole clocks (row-bus times to half clocks).
#pragma once
#include <cstdint>

#include "sim/chip/config.hpp"

namespace daybreak::sim {

enum class Refresh : uint8_t { off, all_bank, per_bank };

struct HbmTiming {
  int64_t tick_fs = 0;  // femtoseconds of one tick
  int64_t clock = 1;    // ticks of one clock, 1 << shift
  int shift = 0;
  // Ticks.
  int64_t burst, cl, cwl, rcd_rd, rcd_wr, rp, ras, rc, rrd_s, rrd_l, faw, wr, rtp, wtr_s, wtr_l,
      rtw;
  int64_t refi, rfc_ab, rfc_pb, rrefd;
  int64_t act_command, pre_command, ref_command;
  // Clocks, at least 1 and at least one burst: columns of one pseudo-channel.
  int64_t ccd_s, ccd_l, ccd_r;
  Refresh refresh = Refresh::off;
  bool closed_page = false;

  explicit HbmTiming(const HbmConfig&);
  int64_t write_to_precharge() const { return cwl + burst + wr; }
  // Ticks from a decision to the earliest completion it can cause, with or without writes.
  int64_t lead(bool writes) const { return (writes && cwl < cl ? cwl : cl) + burst; }
  // First tick at or after a time in fs.
  int64_t tick_of(int64_t fs) const { return (fs + tick_fs - 1) / tick_fs; }
  // The same, moved up to a whole clock.
  int64_t clock_tick_of(int64_t fs) const {
    const int64_t t = tick_of(fs);
    return clock == 1 ? t : (t + 1) & ~int64_t{1};
  }
};

// Geometry of one stack as counts.
struct HbmGeometry {
  int64_t channels, pcs, groups, banks, sids, rows, columns, atom;
  explicit HbmGeometry(const HbmConfig&);
  int64_t banks_of_pc() const { return groups * banks * sids; }
  int64_t banks_of_channel() const { return pcs * banks_of_pc(); }
};

}  // namespace daybreak::sim
