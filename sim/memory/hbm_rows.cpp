#include "sim/memory/hbm_rows.hpp"

#include <algorithm>
#include <bit>

namespace daybreak::sim {

RowCommands::RowCommands(const HbmTiming& t, const HbmGeometry& g, int64_t window)
    : t_(t), bus_(window), recent_(g.pcs) {}

// First slot from `from` on with `count` (1..32) free ones.
int64_t RowCommands::find_free(int64_t from, int64_t count) const {
  for (int64_t at = from; at + 64 < bus_.limit();) {
    uint64_t ok = ~bus_.bits(at);
    for (int64_t i = 1; i < count; ++i) ok &= ok >> 1;
    // The shifts bring in zeros, so a hit lies wholly inside the 64 slots.
    if (ok != 0) return at + std::countr_zero(ok);
    at += 64 - (count - 1);
  }
  return kNone;
}

int64_t RowCommands::precharge(int64_t from) {
  const int64_t at = find_free(from, t_.pre_command);
  if (at != kNone) bus_.mark(at, t_.pre_command);
  return at;
}

int64_t RowCommands::activate(int pc, uint16_t group, int64_t from) {
  Recent& recent = recent_[pc];
  int64_t at = from;
  for (;;) {
    const int64_t rule = allowed(recent, group, at);
    const int64_t free = find_free(rule, t_.act_command);
    if (free == kNone) return kNone;
    at = free;
    if (free == rule) break;
  }
  bus_.mark(at, t_.act_command);
  if (recent.count == Recent::kMost) {
    std::copy(recent.at.begin() + 1, recent.at.end(), recent.at.begin());
    --recent.count;
  }
  int place = recent.count++;
  for (; place > 0 && recent.at[place - 1].tick > at; --place) {
    recent.at[place] = recent.at[place - 1];
  }
  recent.at[place] = {at, group};
  return at;
}

// First tick from `from` on that keeps tRRD to every booked activate and at most four within tFAW.
int64_t RowCommands::allowed(const Recent& r, uint16_t group, int64_t from) const {
  if (r.count == 0) return from;
  // Behind all others: the last ones of its group and of any, and the fourth last.
  const Activate& last = r.at[r.count - 1];
  if (from < last.tick) return allowed_between(r, group, from);
  int64_t at = std::max(from, last.tick + (last.group == group ? t_.rrd_l : t_.rrd_s));
  for (int i = r.count - 2; i >= 0 && r.at[i].tick + t_.rrd_l > at; --i) {
    if (r.at[i].group == group) at = r.at[i].tick + t_.rrd_l;
  }
  if (r.count >= 4) at = std::max(at, r.at[r.count - 4].tick + t_.faw);
  return at;
}

int64_t RowCommands::allowed_between(const Recent& r, uint16_t group, int64_t from) const {
  const auto& a = r.at;
  auto gap = [&](const Activate& x) { return x.group == group ? t_.rrd_l : t_.rrd_s; };
  int64_t t = from;
  for (bool moved = true; moved;) {
    moved = false;
    int place = r.count;
    while (place > 0 && a[place - 1].tick > t) --place;
    // What has been forgotten must stay out of every window of five: go behind the first four.
    if (place < 4 && r.count == Recent::kMost) {
      t = a[3].tick;
      moved = true;
      continue;
    }
    for (int i = place - 1; i >= 0 && a[i].tick > t - t_.rrd_l; --i) {
      if (a[i].tick + gap(a[i]) > t) t = a[i].tick + gap(a[i]), moved = true;
    }
    for (int i = place; !moved && i < r.count && a[i].tick < t + t_.rrd_l; ++i) {
      if (a[i].tick < t + gap(a[i])) t = a[i].tick + gap(a[i]), moved = true;
    }
    // Every window of five activates that would hold the new one.
    for (int after = 0; !moved && after <= 4; ++after) {
      const int first = place - (4 - after), last = place + after - 1;
      if (first < 0 || last >= r.count) continue;
      const int64_t begin = after == 4 ? t : a[first].tick, end = after == 0 ? t : a[last].tick;
      if (end - begin >= t_.faw) continue;
      t = after == 0 ? begin + t_.faw : end + 1;
      moved = true;
    }
  }
  return t;
}

}  // namespace daybreak::sim
