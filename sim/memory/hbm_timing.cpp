#include "sim/memory/hbm_timing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "configs/reader/errors.hpp"

namespace daybreak::sim {
namespace {

// Whole units of `unit` ns that cover `ns`; the slack absorbs the rounding of decimal fractions.
int64_t round_up(double ns, double unit) { return int64_t(std::ceil(ns / unit - 1e-6)); }

}  // namespace

HbmTiming::HbmTiming(const HbmConfig& c) {
  auto half = [&](double ns) { return round_up(ns, c.tck / 2); };
  const bool halves = (half(c.act_command) | half(c.pre_command) | half(c.ref_command)) & 1;
  shift = halves;
  clock = int64_t{1} << shift;
  tick_fs = std::max<int64_t>(1, std::llround(c.tck * 1e6 / double(clock)));
  auto ticks = [&](double ns) { return round_up(ns, c.tck) * clock; };
  auto command = [&](double ns) { return halves ? half(ns) : half(ns) / 2; };

  burst = c.burst * clock;
  cl = ticks(c.cl), cwl = ticks(c.cwl);
  rcd_rd = ticks(c.rcd_rd), rcd_wr = ticks(c.rcd_wr);
  rp = ticks(c.rp), ras = ticks(c.ras), rc = ticks(c.rc);
  rrd_s = ticks(c.rrd_s), rrd_l = std::max(rrd_s, ticks(c.rrd_l)), faw = ticks(c.faw);
  wr = ticks(c.wr), rtp = ticks(c.rtp);
  wtr_s = ticks(c.wtr_s), wtr_l = std::max(wtr_s, ticks(c.wtr_l));
  rtw = ticks(c.rtw);
  refi = ticks(c.refi), rfc_ab = ticks(c.rfc_ab), rfc_pb = ticks(c.rfc_pb), rrefd = ticks(c.rrefd);
  act_command = command(c.act_command);
  pre_command = command(c.pre_command);
  ref_command = command(c.ref_command);
  if (std::max({act_command, pre_command, ref_command}) > 32) {
    throw UserError(
        fmt::format("chip.hbm.act_command, pre_command and ref_command must be at most {} ns",
                    32.0 * c.tck / double(clock)));
  }
  // The data bus of a pseudo-channel carries one atom at a time, whatever the knobs say.
  ccd_s = std::max<int64_t>({1, c.burst, round_up(c.ccd_s, c.tck)});
  ccd_l = std::max(ccd_s, round_up(c.ccd_l, c.tck));
  ccd_r = std::max(ccd_s, round_up(c.ccd_r, c.tck));
  refresh = c.refresh == "all-bank"   ? Refresh::all_bank
            : c.refresh == "per-bank" ? Refresh::per_bank
                                      : Refresh::off;
  closed_page = c.page == "closed";
  const HbmGeometry g(c);
  const int64_t refreshed = refresh == Refresh::all_bank ? rp + rfc_ab : g.banks_of_pc() * rrefd;
  if (refresh != Refresh::off && refreshed >= refi) {
    throw UserError(fmt::format(
        "chip.hbm.refi of {} ns leaves no time between refreshes; it must be above {} ns", c.refi,
        double(refreshed / clock) * c.tck));
  }
  if (refresh == Refresh::per_bank && rfc_pb + rp >= refi) {
    throw UserError(fmt::format("chip.hbm.rfc_pb of {} ns must be below chip.hbm.refi of {} ns",
                                c.rfc_pb, c.refi));
  }
}

HbmGeometry::HbmGeometry(const HbmConfig& c)
    : channels(c.channels),
      pcs(c.pseudo_channels),
      groups(c.bank_groups),
      banks(c.banks),
      sids(c.stack_ids),
      rows(c.rows),
      columns(c.row_bytes / c.atom),
      atom(c.atom) {
  if (c.row_bytes % c.atom != 0) {
    throw UserError(
        fmt::format("chip.hbm.row_bytes of {} B must be a multiple of chip.hbm.atom, {} B",
                    c.row_bytes, c.atom));
  }
}

}  // namespace daybreak::sim
