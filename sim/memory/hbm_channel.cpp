#include "sim/memory/hbm_channel.hpp"

#include <algorithm>

namespace daybreak::sim {
namespace {

constexpr int64_t kLongAgo = INT64_MIN / 4;

// Slots a ring must hold: everything one round of bookings of all banks can need, within reason;
// what does not fit is decided later.
int64_t window(const HbmTiming& t, const HbmGeometry& g) {
  const int64_t one = t.ras + t.rp + t.rc + t.faw + t.wr + t.wtr_l + t.rtw + t.cl + t.cwl;
  const int64_t backlog = g.banks_of_channel() * 64 + t.ccd_l * 64;
  return std::min<int64_t>(2048 + 4 * one + backlog * t.clock, int64_t{1} << 20);
}

// First slot from `from` on with `count` (1..32) free ones.
int64_t find_free(const SlotRing& ring, int64_t from, int64_t count) {
  for (int64_t at = from; at + 64 < ring.limit();) {
    uint64_t ok = ~ring.bits(at);
    for (int64_t i = 1; i < count; ++i) ok &= ok >> 1;
    // The shifts bring in zeros, so a hit lies wholly inside the 64 slots.
    if (ok != 0) return at + std::countr_zero(ok);
    at += 64 - (count - 1);
  }
  return -1;
}

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

HbmChannel::Pc::Pc(int64_t clocks, const HbmGeometry& g, bool sids)
    : columns(clocks),
      last_read(kLongAgo),
      last_write(kLongAgo),
      last_write_group(g.groups * g.sids, kLongAgo) {
  by_group.assign(g.groups * g.sids, SlotRing(clocks));
  if (sids) by_sid.assign(g.sids, SlotRing(clocks));
}

HbmChannel::HbmChannel(HbmShared& shared, uint16_t index)
    : s_(shared),
      t_(shared.timing),
      index_(index),
      look_ahead_(64 * t_.clock),
      row_bus_(window(t_, shared.geometry)),
      column_bus_(window(t_, shared.geometry)) {
  const HbmGeometry& g = s_.geometry;
  // A booking's columns with what they block before and after must fit one 64-bit pattern.
  const int64_t blocked = 2 * (g.sids > 1 ? t_.ccd_r : t_.ccd_s) - 1;
  most_atoms_ = std::max<int64_t>(1, (64 - blocked) / t_.ccd_l + 1);
  for (int64_t n = 0; n <= most_atoms_; ++n) {
    bus_pattern_.push_back(blocked_pattern(n, t_.ccd_l, 1));
    pc_pattern_.push_back(blocked_pattern(n, t_.ccd_l, t_.ccd_s));
    sid_pattern_.push_back(blocked_pattern(n, t_.ccd_l, t_.ccd_r));
  }
  const bool sids = g.sids > 1 && t_.ccd_r > t_.ccd_s;
  for (int64_t p = 0; p < g.pcs; ++p) pcs_.emplace_back(window(t_, g), g, sids);
  banks_.resize(g.banks_of_channel());
  for (int64_t b = 0; b < g.banks_of_channel(); ++b) {
    Bank& bank = banks_[b];
    const int64_t in_pc = b % g.banks_of_pc();
    bank.pc = uint16_t(b / g.banks_of_pc());
    bank.sid = uint16_t(in_pc / (g.groups * g.banks));
    bank.group = uint16_t(in_pc / g.banks);
    bank.refresh_due = t_.refi * (in_pc + 1) / g.banks_of_pc();
  }
  for (Pc& pc : pcs_) pc.refresh_due = t_.refi;
  const double queue = double(s_.config.queue);
  high_ = std::max<int64_t>(1, int64_t(queue * s_.config.write_high));
  low_ = std::min<int64_t>(high_ - 1, int64_t(queue * s_.config.write_low));
}

int32_t HbmShared::take_run() {
  ++in_flight;
  if (free_run >= 0) {
    const int32_t run = free_run;
    free_run = runs[run].next;
    return run;
  }
  runs.emplace_back();
  return int32_t(runs.size()) - 1;
}

void HbmShared::release_run(int32_t run) {
  --in_flight;
  runs[run].next = free_run;
  free_run = run;
}

void HbmChannel::arrive(int32_t run, int64_t now) {
  const int kind = s_.runs[run].write;
  s_.runs[run].next = -1;
  List& list = waiting_[kind];
  if (list.empty()) {
    list.head = run;
  } else {
    s_.runs[list.tail].next = run;
  }
  list.tail = run;
  fill_queue(kind, now);
  set_mode(now);
}

// Moves runs into the bounded queue while they fit; a run larger than the queue enters an empty
// one.
void HbmChannel::fill_queue(int kind, int64_t now) {
  List& list = waiting_[kind];
  while (!list.empty()) {
    const int32_t run = list.head;
    const int64_t atoms = s_.runs[run].atoms;
    if (queued_[kind] > 0 && queued_[kind] + atoms > s_.config.queue) return;
    list.head = s_.runs[run].next;
    if (list.head < 0) list.tail = -1;
    admit(run, now);
  }
}

void HbmChannel::admit(int32_t index, int64_t now) {
  HbmShared::Run& run = s_.runs[index];
  run.next = -1;
  run.admitted = now;
  run.started = false;
  queued_[run.write] += run.atoms;
  List& list = banks_[run.bank].queue[run.write];
  if (list.empty()) {
    list.head = index;
  } else {
    s_.runs[list.tail].next = index;
  }
  list.tail = index;
  if (run.write == writing_) schedule(run.bank, std::max(now, banks_[run.bank].ready));
}

void HbmChannel::schedule(uint32_t bank, int64_t at) {
  if (banks_[bank].scheduled) return;
  banks_[bank].scheduled = true;
  s_.wheel.push(at, {-1, index_, bank});
}

// Turns the channel round when the watermarks say so and wakes the banks that now have work.
void HbmChannel::set_mode(int64_t now) {
  const bool write = writing_ ? !(queued_[1] == 0 || (queued_[1] <= low_ && queued_[0] > 0))
                              : queued_[1] >= high_ || (queued_[0] == 0 && queued_[1] > 0);
  if (write == writing_) return;
  writing_ = write;
  for (uint32_t b = 0; b < banks_.size(); ++b) {
    if (!banks_[b].queue[writing_].empty()) schedule(b, std::max(now, banks_[b].ready));
  }
}

HbmChannel::Choice HbmChannel::choose(Bank& bank) const {
  const List& list = bank.queue[writing_];
  if (list.empty()) return {};
  const Choice oldest{list.head, -1, bank.open == s_.runs[list.head].row};
  if (bank.open < 0 || oldest.hit || bank.passed >= s_.config.starvation) return oldest;
  for (int32_t before = list.head, run = s_.runs[before].next; run >= 0;
       before = run, run = s_.runs[run].next) {
    if (bank.open == s_.runs[run].row) return {run, before, true};
  }
  return oldest;
}

void HbmChannel::advance(Pc& pc, int64_t now) {
  const int64_t clock = now / t_.clock;
  row_bus_.advance(now);
  column_bus_.advance(clock);
  if (clock - pc.advanced < 64) return;
  pc.advanced = clock;
  pc.columns.advance(clock);
  for (SlotRing& ring : pc.by_group) ring.advance(clock);
  for (SlotRing& ring : pc.by_sid) ring.advance(clock);
}

void HbmChannel::decide(uint32_t b, int64_t now) {
  Bank& bank = banks_[b];
  Pc& pc = pcs_[bank.pc];
  bank.scheduled = false;
  advance(pc, now);
  refresh(b, now);
  const Choice choice = choose(bank);
  if (choice.run < 0) return;
  const HbmShared::Run& run = s_.runs[choice.run];
  const int64_t earliest = choice.hit ? std::max(run.write ? bank.write_ok : bank.read_ok,
                                                 turnaround(pc, bank, run.write))
                           : bank.open >= 0 ? bank.pre_ok
                                            : bank.act_ok;
  if (earliest > now + look_ahead_) return schedule(b, earliest - look_ahead_);
  if (!choice.hit && !open_row(b, run.row, now)) return schedule(b, now + look_ahead_);

  const int64_t from =
      std::max({now, run.write ? bank.write_ok : bank.read_ok, turnaround(pc, bank, run.write)});
  const int64_t atoms = std::min<int64_t>(run.atoms, most_atoms_);
  const int64_t clock = find_columns(pc, bank, (from + t_.clock - 1) / t_.clock, atoms);
  if (clock < 0) return schedule(b, now + look_ahead_);
  const int kind = run.write;
  book_columns(b, choice, clock, atoms, now);
  fill_queue(kind, now);
  set_mode(now);
  if (!bank.queue[writing_].empty()) schedule(b, std::max(now, bank.ready));
}

int64_t HbmChannel::turnaround(const Pc& pc, const Bank& bank, bool write) const {
  if (write) return pc.last_read + t_.rtw;
  const int64_t data = t_.cwl + t_.burst;
  return std::max(pc.last_write + data + t_.wtr_s,
                  pc.last_write_group[bank.group] + data + t_.wtr_l);
}

bool HbmChannel::open_row(uint32_t b, uint32_t row, int64_t now) {
  Bank& bank = banks_[b];
  Pc& pc = pcs_[bank.pc];
  const bool conflict = bank.open >= 0;
  if (conflict) {
    const int64_t pre = find_free(row_bus_, std::max(now, bank.pre_ok), t_.pre_command);
    if (pre < 0) return false;
    row_bus_.mark(pre, t_.pre_command);
    log(HbmCommand::Kind::precharge, b, bank.open, pre);
    bank.open = -1;
    bank.act_ok = std::max(bank.act_ok, pre + t_.rp);
  }
  const int64_t keep = now - std::max(t_.faw, t_.rrd_l);
  while (pc.activates.size() > 8 && pc.activates[4].tick < keep) {
    pc.activates.erase(pc.activates.begin(), pc.activates.begin() + 4);
  }
  int64_t act = std::max(now, bank.act_ok);
  for (;;) {
    const int64_t allowed = find_activate(pc, bank.group, act);
    const int64_t free = find_free(row_bus_, allowed, t_.act_command);
    if (free < 0) return false;
    act = free;
    if (free == allowed) break;
  }
  row_bus_.mark(act, t_.act_command);
  auto place = pc.activates.end();
  while (place != pc.activates.begin() && (place - 1)->tick > act) --place;
  pc.activates.insert(place, {act, bank.group});
  log(HbmCommand::Kind::activate, b, row, act);
  ++s_.stats.activates;
  ++(conflict ? s_.stats.row_conflicts : s_.stats.row_misses);
  bank.open = row;
  bank.act_ok = act + t_.rc;
  bank.pre_ok = act + t_.ras;
  bank.read_ok = act + t_.rcd_rd;
  bank.write_ok = act + t_.rcd_wr;
  return true;
}

// First tick from `from` on that keeps tRRD to every booked activate and at most four within tFAW.
int64_t HbmChannel::find_activate(const Pc& pc, uint16_t group, int64_t from) const {
  const std::vector<Activate>& a = pc.activates;
  const int64_t count = int64_t(a.size());
  auto gap = [&](const Activate& x) { return x.group == group ? t_.rrd_l : t_.rrd_s; };
  int64_t t = from;
  for (bool moved = true; moved;) {
    moved = false;
    int64_t place = count;
    while (place > 0 && a[place - 1].tick > t) --place;
    for (int64_t i = place - 1; i >= 0 && a[i].tick > t - t_.rrd_l; --i) {
      if (a[i].tick + gap(a[i]) > t) t = a[i].tick + gap(a[i]), moved = true;
    }
    for (int64_t i = place; !moved && i < count && a[i].tick < t + t_.rrd_l; ++i) {
      if (a[i].tick < t + gap(a[i])) t = a[i].tick + gap(a[i]), moved = true;
    }
    // Every window of five activates that would hold the new one.
    for (int64_t after = 0; !moved && after <= 4; ++after) {
      const int64_t first = place - (4 - after), last = place + after - 1;
      if (first < 0 || last >= count) continue;
      const int64_t begin = after == 4 ? t : a[first].tick, end = after == 0 ? t : a[last].tick;
      if (end - begin >= t_.faw) continue;
      t = after == 0 ? begin + t_.faw : end + 1;
      moved = true;
    }
  }
  return t;
}

int64_t HbmChannel::find_columns(const Pc& pc, const Bank& bank, int64_t from,
                                 int64_t atoms) const {
  const SlotRing& group = pc.by_group[bank.group];
  const SlotRing* sid = pc.by_sid.empty() ? nullptr : &pc.by_sid[bank.sid];
  const int64_t limit = column_bus_.limit() - 384 - 2 * t_.ccd_l;
  auto busy = [&](int64_t at) {
    return column_bus_.bits(at) | pc.columns.bits(at) | group.bits(at) | (sid ? sid->bits(at) : 0);
  };
  int64_t at = from;
  if (at >= limit) return -1;
  uint64_t low = ~busy(at);
  while (at < limit) {
    const uint64_t high = ~busy(at + 64);
    uint64_t ok = low;
    for (int64_t i = 1; i < atoms && ok != 0; ++i) {
      const int64_t shift = i * t_.ccd_l;  // below 64: most_atoms_ sees to it
      ok &= low >> shift | high << (64 - shift);
    }
    if (ok != 0) return at + std::countr_zero(ok);
    low = high;
    at += 64;
  }
  return -1;
}

void HbmChannel::mark_columns(Pc& pc, const Bank& bank, int64_t clock, int64_t atoms) {
  column_bus_.mark_bits(clock, bus_pattern_[atoms]);
  block(pc.columns, clock, t_.ccd_s, pc_pattern_[atoms]);
  for (size_t other = 0; other < pc.by_sid.size(); ++other) {
    if (other != bank.sid) block(pc.by_sid[other], clock, t_.ccd_r, sid_pattern_[atoms]);
  }
  const int64_t span = (atoms - 1) * t_.ccd_l + 1;
  pc.by_group[bank.group].mark(clock - t_.ccd_l + 1, span + 2 * t_.ccd_l - 2);
}

void HbmChannel::book_columns(uint32_t b, const Choice& choice, int64_t clock, int64_t atoms,
                              int64_t now) {
  Bank& bank = banks_[b];
  Pc& pc = pcs_[bank.pc];
  HbmShared::Run& run = s_.runs[choice.run];
  if (choice.hit && !run.started) ++s_.stats.row_hits;
  run.started = true;
  List& list = bank.queue[run.write];
  bank.passed = choice.before < 0 ? 0 : bank.passed + 1;
  mark_columns(pc, bank, clock, atoms);
  const int64_t first = clock * t_.clock;
  const int64_t last = (clock + (atoms - 1) * t_.ccd_l) * t_.clock;
  if (s_.log) {
    for (int64_t i = 0; i < atoms; ++i) {
      log(run.write ? HbmCommand::Kind::write : HbmCommand::Kind::read, b, run.row,
          first + i * t_.ccd_l * t_.clock);
    }
  }
  if (run.write) {
    pc.last_write = std::max(pc.last_write, last);
    pc.last_write_group[bank.group] = std::max(pc.last_write_group[bank.group], last);
    bank.pre_ok = std::max(bank.pre_ok, last + t_.write_to_precharge());
  } else {
    pc.last_read = std::max(pc.last_read, last);
    bank.pre_ok = std::max(bank.pre_ok, last + t_.rtp);
  }
  bank.ready = last;
  queued_[run.write] -= atoms;
  (run.write ? s_.stats.write_bytes : s_.stats.read_bytes) += atoms * s_.geometry.atom;
  run.atoms -= uint32_t(atoms);
  if (run.atoms > 0) {
    run.admitted = std::min(now + t_.ccd_l * t_.clock, last);  // the rest waits from here on
    return;
  }
  if (choice.before < 0) {
    list.head = run.next;
  } else {
    s_.runs[choice.before].next = run.next;
  }
  if (list.tail == choice.run) list.tail = choice.before;
  finish(b, choice.run, first, last);
}

// Tells the listener and, with closed pages, precharges a row nobody waits for.
void HbmChannel::finish(uint32_t b, int32_t index, int64_t first, int64_t last) {
  Bank& bank = banks_[b];
  const HbmShared::Run& run = s_.runs[index];
  const int64_t ok = run.write ? bank.write_ok : bank.read_ok;
  RunDelay delay;
  const int64_t wait = std::max<int64_t>(0, first - run.admitted);
  delay.refresh = std::clamp<int64_t>(
      std::min(bank.refresh_end, first) - std::max(bank.refresh_begin, run.admitted), 0, wait);
  delay.row = std::clamp<int64_t>(std::min(ok, first) - run.admitted - delay.refresh, 0,
                                  wait - delay.refresh);
  delay.bandwidth = wait - delay.refresh - delay.row + (run.admitted - run.arrived);
  const int64_t fs = t_.tick_fs;
  s_.stats.refresh_stall += Femtoseconds(delay.refresh * fs);
  const int64_t at = last + (run.write ? t_.cwl : t_.cl) + t_.burst;
  const uint64_t owner = run.owner;
  s_.release_run(index);
  if (t_.closed_page && !row_wanted(bank)) {
    log(HbmCommand::Kind::precharge, b, bank.open, bank.pre_ok, true);
    bank.open = -1;
    bank.act_ok = std::max(bank.act_ok, bank.pre_ok + t_.rp);
  }
  s_.listener.served(owner, at * fs, {delay.row * fs, delay.bandwidth * fs, delay.refresh * fs});
}

bool HbmChannel::row_wanted(const Bank& bank) const {
  for (const List& list : bank.queue) {
    for (int32_t run = list.head; run >= 0; run = s_.runs[run].next) {
      if (s_.runs[run].row == bank.open) return true;
    }
  }
  return false;
}

void HbmChannel::log(HbmCommand::Kind kind, uint32_t bank, int64_t row, int64_t tick,
                     bool automatic) const {
  if (s_.log) s_.log->push_back({kind, automatic, index_, bank, uint32_t(row), tick});
}

}  // namespace daybreak::sim
