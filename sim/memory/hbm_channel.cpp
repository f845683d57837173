#include "sim/memory/hbm_channel.hpp"

#include <algorithm>

namespace daybreak::sim {
namespace {

// Slots a ring must hold: what a bank books at once and some backlog. What does not fit is decided
// later; small rings stay in the cache.
int64_t window(const HbmTiming& t) {
  const int64_t one = t.ras + t.rp + t.rc + t.faw + t.wr + t.wtr_l + t.rtw + t.cl + t.cwl;
  return std::min<int64_t>(256 * t.clock + one + 2 * t.ccd_l, int64_t{1} << 20);
}

}  // namespace

HbmChannel::HbmChannel(HbmShared& shared, uint16_t index)
    : s_(shared),
      t_(shared.timing),
      index_(index),
      look_ahead_(64 * t_.clock),
      due_(shared.geometry.banks_of_channel()),
      wants_(shared.geometry.banks_of_channel(), 0),
      banks_(shared.geometry.banks_of_channel()),
      drain_(shared.queue, shared.write_high, shared.write_low),
      rows_(t_, shared.geometry, window(t_)),
      columns_(t_, shared.geometry, window(t_)),
      turned_at_(shared.geometry.pcs, 0) {
  const HbmGeometry& g = s_.geometry;
  for (int64_t b = 0; b < g.banks_of_channel(); ++b) {
    HbmBank& bank = banks_[b];
    const int64_t in_pc = b % g.banks_of_pc();
    bank.pc = uint16_t(b / g.banks_of_pc());
    bank.sid = uint16_t(in_pc / (g.groups * g.banks));
    bank.group = uint16_t(in_pc / g.banks);
    bank.refresh_due = t_.refresh == Refresh::off        ? kNever
                       : t_.refresh == Refresh::all_bank ? t_.refi
                                                         : t_.refi * (in_pc + 1) / g.banks_of_pc();
  }
}

// Tells the listener and, with closed pages, precharges a row nobody waits for.
inline void HbmChannel::finish(uint32_t b, int32_t index, int64_t first, int64_t last) {
  HbmBank& bank = banks_[b];
  HbmRun& run = runs_[index];
  const int64_t ok = bank.column_ok[run.write];
  RunDelay delay;
  const int64_t wait = std::max<int64_t>(0, first - run.admitted);
  delay.refresh = std::clamp<int64_t>(
      std::min(bank.refresh_end, first) - std::max(bank.refresh_begin, run.admitted), 0, wait);
  delay.row = std::clamp<int64_t>(std::min(ok, first) - run.admitted - delay.refresh, 0,
                                  wait - delay.refresh);
  delay.bandwidth = wait - delay.refresh - delay.row + (run.admitted - run.arrived);
  s_.stats.refresh_stall += Femtoseconds(delay.refresh * t_.tick_fs);
  const int64_t at = last + (run.write ? t_.cwl : t_.cl) + t_.burst;
  const uint64_t owner = run.owner;
  const bool more = run.more;
  if (!more) {
    --s_.in_flight;
    s_.writes -= run.write;
  }
  run.next = free_run_;
  free_run_ = index;
  if (t_.closed_page && !row_wanted(bank)) {
    log(HbmCommand::Kind::precharge, b, bank.open, bank.pre_ok, true);
    bank.open = -1;
    bank.act_ok = std::max(bank.act_ok, bank.pre_ok + t_.rp);
  }
  if (!more) s_.listener.served(owner, at, delay);
}

inline void HbmChannel::book(uint32_t b, const HbmChoice& choice, int64_t clock, int64_t atoms,
                             int64_t now) {
  HbmBank& bank = banks_[b];
  HbmRun& run = runs_[choice.run];
  // Of the columns, all but the first behind an activate found their row open.
  s_.stats.row_hits += atoms - (bank.opener == choice.run);
  if (bank.opener == choice.run) bank.opener = -1;
  HbmBank::List& list = bank.queue[run.write];
  bank.passed = choice.before < 0 ? 0 : bank.passed + 1;
  columns_.book(bank, run.write, clock, atoms);
  const int64_t first = clock << t_.shift, step = t_.ccd_l << t_.shift;
  const int64_t last = first + (atoms - 1) * step;
  if (s_.log) {
    for (int64_t i = 0; i < atoms; ++i) {
      log(run.write ? HbmCommand::Kind::write : HbmCommand::Kind::read, b, run.row,
          first + i * step);
    }
  }
  bank.pre_ok = std::max(bank.pre_ok, last + (run.write ? t_.write_to_precharge() : t_.rtp));
  bank.ready = last;
  queued_[run.write] -= atoms;
  if (arrival_ == kNever) find_arrival();
  (run.write ? s_.stats.write_bytes : s_.stats.read_bytes) += atoms * s_.geometry.atom;
  run.atoms = uint16_t(run.atoms - atoms);
  if (run.atoms > 0) {
    run.admitted = std::min(now + step, last);  // the rest waits from here on
    return;
  }
  if (choice.before < 0) {
    list.head = run.next;
  } else {
    runs_[choice.before].next = run.next;
  }
  if (list.tail == choice.run) list.tail = choice.before;
  finish(b, choice.run, first, last);
}

// True when banks of other stack ids wait for columns and no other group of this bank's stack id
// does: then its columns come one by one, so that both find their gaps.
bool HbmChannel::alone(uint32_t b) const {
  const HbmGeometry& g = s_.geometry;
  const int64_t per_group = g.banks, per_sid = g.groups * g.banks, per_pc = g.banks_of_pc();
  const int64_t pc = b / per_pc * per_pc, sid = b / per_sid * per_sid,
                group = b / per_group * per_group;
  int same = 0, others = 0;
  for (int64_t i = pc; i < pc + per_pc; ++i) others += wants_[i];
  for (int64_t i = sid; i < sid + per_sid; ++i) same += wants_[i];
  others -= same;
  for (int64_t i = group; i < group + per_group; ++i) same -= wants_[i];
  return others > 0 && same == 0;
}

inline void HbmChannel::columns(uint32_t b, const HbmChoice& choice, int64_t now) {
  HbmBank& bank = banks_[b];
  const HbmRun& run = runs_[choice.run];
  const int64_t from = std::max(bank.column_ok[run.write], columns_.turned(bank, run.write));
  if (from > now) return due_.add(b, from);
  const int64_t clock_now = (now + t_.clock - 1) >> t_.shift;
  columns_.advance(now >> t_.shift);
  int64_t atoms = std::min<int64_t>(run.atoms, columns_.most());
  if (columns_.sids_part() && atoms > 1 && alone(b)) atoms = 1;
  const int64_t clock = columns_.find(bank, clock_now, atoms);
  if (clock == ColumnCommands::kNone) return due_.add(b, now + look_ahead_);
  if (columns_.sids_part() && clock > clock_now) {
    wants_[b] = 1;
    return due_.add(b, clock << t_.shift);
  }
  book(b, choice, clock, atoms, now);
  turn(now);
  if (bank.queue[drain_.writing()].empty() && bank.opener < 0) return;
  wants_[b] = bank.open >= 0;
  due_.add(b, std::max(now, bank.ready));
}

// Books precharge and activate; leaves the bank closed when the row bus is booked too far ahead.
inline void HbmChannel::open_row(uint32_t b, const HbmRun& run, int64_t now) {
  HbmBank& bank = banks_[b];
  const bool conflict = bank.open >= 0;
  if (conflict) {
    const int64_t pre = rows_.precharge(std::max(now, bank.pre_ok));
    if (pre == RowCommands::kNone) return;
    log(HbmCommand::Kind::precharge, b, bank.open, pre);
    bank.open = -1;
    bank.act_ok = std::max(bank.act_ok, pre + t_.rp);
  }
  const int64_t act = rows_.activate(bank.pc, bank.group, std::max(now, bank.act_ok));
  if (act == RowCommands::kNone) return;
  log(HbmCommand::Kind::activate, b, run.row, act);
  ++s_.stats.activates;
  ++(conflict ? s_.stats.row_conflicts : s_.stats.row_misses);
  bank.open = run.row;
  bank.act_ok = act + t_.rc;
  bank.pre_ok = act + t_.ras;
  bank.column_ok[0] = act + t_.rcd_rd;
  bank.column_ok[1] = act + t_.rcd_wr;
}

inline HbmChoice HbmChannel::choose(const HbmBank& bank) const {
  const bool write = bank.opener >= 0 ? runs_[bank.opener].write : drain_.writing();
  return fr_fcfs(bank, bank.queue[write], runs_, s_.starvation);
}

inline void HbmChannel::decide(uint32_t b, int64_t now) {
  HbmBank& bank = banks_[b];
  wants_[b] = 0;
  refresh(b, now);
  const HbmChoice choice = choose(bank);
  if (choice.run < 0) return;
  if (choice.hit) return columns(b, choice, now);
  const int64_t earliest = bank.open >= 0 ? bank.pre_ok : bank.act_ok;
  if (earliest > now + look_ahead_) return due_.add(b, earliest - look_ahead_);
  rows_.advance(now);
  open_row(b, runs_[choice.run], now);
  const HbmRun& run = runs_[choice.run];
  if (bank.open != int64_t(run.row)) return due_.add(b, now + look_ahead_);
  bank.opener = choice.run;
  due_.add(b, std::max(now, bank.column_ok[run.write]));
}

// Turns the channel round when the watermarks say so and wakes the banks that now have work: rows
// are opened for the other direction once the last column of this one is out.
void HbmChannel::turned(int64_t now) {
  const bool write = drain_.writing();
  for (int pc = 0; pc < int(turned_at_.size()); ++pc)
    turned_at_[pc] = std::max(now, columns_.last(pc, !write));
  for (uint32_t b = 0; b < banks_.size(); ++b) {
    const HbmBank& bank = banks_[b];
    if (!bank.queue[write].empty()) due_.add(b, std::max(turned_at_[bank.pc], bank.ready));
  }
}

int32_t HbmChannel::new_run(const Arrival& a, int64_t now) {
  int32_t index = free_run_;
  if (index >= 0) {
    free_run_ = runs_[index].next;
  } else {
    index = int32_t(runs_.size());
    runs_.emplace_back();
  }
  runs_[index] = {.owner = a.owner,
                  .arrived = a.at,
                  .admitted = now,
                  .row = a.row,
                  .bank = a.bank,
                  .write = a.write != 0};
  return index;
}

// Takes what there is room for of the first request; what it left before may still wait.
inline void HbmChannel::admit(int64_t now) {
  Arrival& a = arrivals_.front();
  const uint32_t b = a.bank;
  const bool write = a.write;
  const int64_t atoms = std::min<int64_t>(a.atoms, s_.queue - queued_[write]);
  HbmBank& bank = banks_[b];
  HbmBank::List& list = bank.queue[write];
  if (list.empty() || !runs_[list.tail].more) {
    const int32_t index = new_run(a, now);
    (list.empty() ? list.head : runs_[list.tail].next) = index;
    list.tail = index;
  }
  HbmRun& run = runs_[list.tail];
  run.atoms = uint16_t(run.atoms + atoms);
  a.atoms = uint16_t(a.atoms - atoms);
  run.more = a.atoms > 0;
  if (!run.more) arrivals_.pop();
  queued_[write] += atoms;
  find_arrival();
  if (write == drain_.writing()) due_.add(b, std::max({now, bank.ready, turned_at_[bank.pc]}));
  turn(now);
}

void HbmChannel::run(int64_t until) {
  for (;;) {
    const int64_t arrival = std::max(arrival_, now_), due = due_.next();
    next_ = std::min(arrival, due);
    if (next_ > until) return;
    now_ = next_;
    if (arrival <= due) {
      admit(arrival);
    } else {
      decide(due_.take(), due);
    }
  }
}

bool HbmChannel::row_wanted(const HbmBank& bank) const {
  for (const HbmBank::List& list : bank.queue) {
    for (int32_t run = list.head; run >= 0; run = runs_[run].next) {
      if (int64_t(runs_[run].row) == bank.open) return true;
    }
  }
  return false;
}

void HbmChannel::log(HbmCommand::Kind kind, uint32_t bank, int64_t row, int64_t tick,
                     bool automatic) const {
  if (s_.log) s_.log->push_back({kind, automatic, index_, bank, uint32_t(row), tick});
}

}  // namespace daybreak::sim
