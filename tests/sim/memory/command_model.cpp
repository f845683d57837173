#include "tests/sim/memory/command_model.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

namespace daybreak::sim::test {
namespace {

constexpr int64_t kPast = INT64_MIN / 4;

struct Place {
  int64_t channel, pc, sid, group, bank, row;
};

// memory.md section 2 as divisions, one stack.
Place place_of(const HbmConfig& h, uint64_t address) {
  int64_t rest = int64_t(address / uint64_t(h.atom));
  auto take = [&rest](int64_t n) {
    const int64_t digit = rest % n;
    rest /= n;
    return digit;
  };
  Place p{};
  const int64_t columns = h.row_bytes / h.atom;
  if (h.map == "rowlinear") {
    p.channel = take(h.channels);
    take(columns);
    p.pc = take(h.pseudo_channels);
    p.sid = take(h.stack_ids);
    p.group = take(h.bank_groups);
    p.bank = take(h.banks);
  } else {
    const int64_t low = (h.map == "fine64" ? 64 : 256) / h.atom;
    take(low);
    p.channel = take(h.channels);
    p.pc = take(h.pseudo_channels);
    p.group = take(h.bank_groups);
    take(columns / low);
    p.bank = take(h.banks);
    p.sid = take(h.stack_ids);
  }
  p.row = take(h.rows);
  return p;
}

struct Atom {
  int64_t object, row;
  int bank;  // of the channel
  bool write, opened = false;
};

struct BankState {
  int64_t open = -1, act_ok = 0, pre_ok = 0, read_ok = 0, write_ok = 0;
  int64_t refresh_due = 0;
  int passed = 0;
};

// Times are ticks: clocks, or half clocks where row commands take halves.
struct Rules {
  bool halves;
  double tick_ns;
  int64_t clock, burst, cl, cwl, rcd_rd, rcd_wr, rp, ras, rc, ccd_s, ccd_l, ccd_r, rrd_s, rrd_l,
      faw, wr, rtp, wtr_s, wtr_l, rtw, refi, rfc_ab, rfc_pb, act, pre, ref;
  explicit Rules(const HbmConfig& h) {
    auto half = [&](double ns) { return int64_t(std::ceil(ns / h.tck * 2 - 1e-6)); };
    halves = (half(h.act_command) | half(h.pre_command) | half(h.ref_command)) & 1;
    clock = halves ? 2 : 1;
    tick_ns = h.tck / double(clock);
    auto t = [&](double ns) { return int64_t(std::ceil(ns / h.tck - 1e-6)) * clock; };
    auto bus = [&](double ns) { return halves ? half(ns) : half(ns) / 2; };
    burst = h.burst * clock, cl = t(h.cl), cwl = t(h.cwl), rcd_rd = t(h.rcd_rd),
    rcd_wr = t(h.rcd_wr), rp = t(h.rp), ras = t(h.ras), rc = t(h.rc);
    ccd_s = std::max(burst, t(h.ccd_s)), ccd_l = t(h.ccd_l), ccd_r = t(h.ccd_r);
    rrd_s = t(h.rrd_s), rrd_l = t(h.rrd_l), faw = t(h.faw), wr = t(h.wr), rtp = t(h.rtp);
    wtr_s = t(h.wtr_s), wtr_l = t(h.wtr_l), rtw = t(h.rtw);
    refi = t(h.refi), rfc_ab = t(h.rfc_ab), rfc_pb = t(h.rfc_pb);
    act = bus(h.act_command), pre = bus(h.pre_command), ref = bus(h.ref_command);
  }
};

class Channel {
 public:
  Channel(const HbmConfig& h, const Rules& r) : h_(h), r_(r) {
    per_pc_ = int(h.bank_groups * h.banks * h.stack_ids);
    banks_.resize(size_t(per_pc_ * h.pseudo_channels));
    pcs_.resize(size_t(h.pseudo_channels));
    for (auto& pc : pcs_) {
      pc.refresh_due = r.refi;
      pc.group_read.assign(size_t(h.bank_groups * h.stack_ids), kPast);
      pc.group_write = pc.group_act = pc.group_read;
      pc.sid_column.assign(size_t(h.stack_ids), kPast);
    }
    for (int b = 0; b < int(banks_.size()); ++b)
      banks_[size_t(b)].refresh_due = r.refi * (b % per_pc_ + 1) / per_pc_;
  }

  std::deque<Atom> fifo;
  int64_t hits = 0, atoms = 0, activates = 0;

  // One tick; done(object, tick of the end of its data).
  template <class Done> void step(int64_t now, Done&& done) {
    while (!fifo.empty() && int64_t(queue_[fifo.front().write].size()) < h_.queue) {
      queue_[fifo.front().write].push_back(fifo.front());
      fifo.pop_front();
    }
    const double reads = double(queue_[0].size()), writes = double(queue_[1].size());
    if (!writing_ && (writes >= h_.write_high * double(h_.queue) || (reads == 0 && writes > 0))) {
      writing_ = true;
    } else if (writing_ &&
               (writes == 0 || (writes <= h_.write_low * double(h_.queue) && reads > 0))) {
      writing_ = false;
    }
    if (h_.refresh == "all-bank") refresh_all(now);
    if (h_.refresh == "per-bank") refresh_banks(now);
    if (now >= column_bus_ && now % r_.clock == 0) column(now, done);
    if (now >= row_bus_) row(now);
  }

 private:
  struct Pc {
    int64_t refresh_due = 0, read = kPast, write = kPast, act = kPast;
    std::vector<int64_t> group_read, group_write, group_act, sid_column;
    std::deque<int64_t> acts;  // the last four
  };
  int pc_of(int bank) const { return bank / per_pc_; }
  size_t group_of(int bank) const { return size_t(bank % per_pc_ / int(h_.banks)); }
  size_t sid_of(int bank) const { return size_t(bank % per_pc_ / int(h_.banks * h_.bank_groups)); }
  bool refreshing(int bank, int64_t now) const {
    if (h_.refresh == "all-bank") return now >= pcs_[size_t(pc_of(bank))].refresh_due;
    return h_.refresh == "per-bank" && now >= banks_[size_t(bank)].refresh_due;
  }

  void refresh_all(int64_t now) {
    for (int p = 0; p < int(pcs_.size()); ++p) {
      if (now < pcs_[size_t(p)].refresh_due) continue;
      bool ready = true;
      for (int b = p * per_pc_; b < (p + 1) * per_pc_; ++b) {
        BankState& bank = banks_[size_t(b)];
        if (bank.open >= 0 && now >= bank.pre_ok) {
          bank.open = -1;
          bank.act_ok = std::max(bank.act_ok, now + r_.rp);
        }
        ready = ready && bank.open < 0 && now >= bank.act_ok;
      }
      if (!ready) continue;
      for (int b = p * per_pc_; b < (p + 1) * per_pc_; ++b)
        banks_[size_t(b)].act_ok = now + r_.rfc_ab;
      pcs_[size_t(p)].refresh_due += r_.refi;
    }
  }
  void refresh_banks(int64_t now) {
    for (BankState& bank : banks_) {
      if (now < bank.refresh_due) continue;
      if (bank.open >= 0 && now >= bank.pre_ok) {
        bank.open = -1;
        bank.act_ok = std::max(bank.act_ok, now + r_.rp);
      }
      if (bank.open >= 0 || now < bank.act_ok) continue;
      bank.act_ok = now + r_.rfc_pb;
      bank.refresh_due += r_.refi;
    }
  }

  bool column_ready(const Atom& a, int64_t now) const {
    const BankState& bank = banks_[size_t(a.bank)];
    if (bank.open != a.row || refreshing(a.bank, now)) return false;
    const Pc& pc = pcs_[size_t(pc_of(a.bank))];
    const size_t group = group_of(a.bank);
    for (size_t s = 0; s < pc.sid_column.size(); ++s)
      if (s != sid_of(a.bank) && now < pc.sid_column[s] + r_.ccd_r) return false;
    if (now < std::max(pc.read, pc.write) + r_.ccd_s) return false;
    if (now < std::max(pc.group_read[group], pc.group_write[group]) + r_.ccd_l) return false;
    if (a.write) return now >= bank.write_ok && now >= pc.read + r_.rtw;
    const int64_t data = r_.cwl + r_.burst;
    return now >= bank.read_ok && now >= pc.write + data + r_.wtr_s &&
           now >= pc.group_write[group] + data + std::max(r_.wtr_s, r_.wtr_l);
  }

  // Requests that a row was opened for come first, whatever the direction; then the oldest.
  template <class Done> void column(int64_t now, Done& done) {
    if (column_of(queue_[writing_], true, now, done)) return;
    if (column_of(queue_[!writing_], true, now, done)) return;
    column_of(queue_[writing_], false, now, done);
  }
  template <class Done>
  bool column_of(std::vector<Atom>& queue, bool opened, int64_t now, Done& done) {
    for (size_t i = 0; i < queue.size(); ++i) {
      if ((opened && !queue[i].opened) || !column_ready(queue[i], now)) continue;
      const Atom a = queue[i];
      BankState& bank = banks_[size_t(a.bank)];
      Pc& pc = pcs_[size_t(pc_of(a.bank))];
      bool older = false;
      for (size_t j = 0; j < i; ++j) older = older || queue[j].bank == a.bank;
      bank.passed = older ? bank.passed + 1 : 0;
      queue.erase(queue.begin() + int64_t(i));
      ++atoms;
      hits += !a.opened;
      column_bus_ = now + r_.clock;
      pc.sid_column[sid_of(a.bank)] = now;
      (a.write ? pc.write : pc.read) = now;
      (a.write ? pc.group_write : pc.group_read)[group_of(a.bank)] = now;
      bank.pre_ok = std::max(bank.pre_ok, a.write ? now + r_.cwl + r_.burst + r_.wr : now + r_.rtp);
      done(a.object, now + (a.write ? r_.cwl : r_.cl) + r_.burst);
      return true;
    }
    return false;
  }

  // The request the row was opened for has not been served, or a queued one still wants it and the
  // turn of its bank to pass others is not used up.
  bool wanted(const BankState& bank, int b) const {
    for (const auto& queue : queue_)
      for (const Atom& a : queue)
        if (a.bank == b && a.opened && a.row == bank.open) return true;
    if (bank.passed >= h_.starvation) return false;
    for (const Atom& a : queue_[writing_])
      if (a.bank == b && a.row == bank.open) return true;
    return false;
  }

  void row(int64_t now) {
    for (Atom& a : queue_[writing_]) {
      BankState& bank = banks_[size_t(a.bank)];
      if (bank.open == a.row || refreshing(a.bank, now)) continue;
      Pc& pc = pcs_[size_t(pc_of(a.bank))];
      if (bank.open >= 0) {
        if (now < bank.pre_ok || wanted(bank, a.bank)) continue;
        bank.open = -1;
        bank.act_ok = std::max(bank.act_ok, now + r_.rp);
        row_bus_ = now + r_.pre;
        return;
      }
      const bool four = pc.acts.size() == 4 && now < pc.acts.front() + r_.faw;
      if (four || now < bank.act_ok || now < pc.act + r_.rrd_s ||
          now < pc.group_act[group_of(a.bank)] + std::max(r_.rrd_s, r_.rrd_l))
        continue;
      a.opened = true;
      bank.open = a.row;
      bank.passed = 0;
      bank.act_ok = now + r_.rc;
      bank.pre_ok = now + r_.ras;
      bank.read_ok = now + r_.rcd_rd;
      bank.write_ok = now + r_.rcd_wr;
      pc.act = pc.group_act[group_of(a.bank)] = now;
      pc.acts.push_back(now);
      if (pc.acts.size() > 4) pc.acts.pop_front();
      row_bus_ = now + r_.act;
      ++activates;
      return;
    }
  }

  const HbmConfig& h_;
  const Rules& r_;
  int per_pc_;
  std::vector<BankState> banks_;
  std::vector<Pc> pcs_;
  std::vector<Atom> queue_[2];
  bool writing_ = false;
  int64_t row_bus_ = 0, column_bus_ = 0;
};

}  // namespace

CommandModelResult run_command_model(const HbmConfig& h, const std::function<Burst()>& next,
                                     int64_t window, double us) {
  const Rules rules(h);
  std::vector<Channel> channels(size_t(h.channels), Channel(h, rules));
  struct Object {
    int64_t sent, bytes, left, end;
  };
  std::vector<Object> objects;
  using Ending = std::pair<int64_t, int64_t>;
  std::vector<Ending> endings;  // heap by time
  Burst held = next();
  int64_t in_flight = 0, bytes = 0, finished = 0, latency = 0;
  const int64_t begin = int64_t(4000 / rules.tick_ns),
                end = begin + int64_t(us * 1000 / rules.tick_ns);
  int64_t hits = 0, atoms = 0, activates = 0;
  for (int64_t now = 0; now < end; ++now) {
    if (now == begin)
      for (Channel& c : channels) hits -= c.hits, atoms -= c.atoms, activates -= c.activates;
    while (!endings.empty() && endings.front().first <= now) {
      std::pop_heap(endings.begin(), endings.end(), std::greater<>());
      const Object& o = objects[size_t(endings.back().second)];
      endings.pop_back();
      in_flight -= o.bytes;
      if (now >= begin) bytes += o.bytes, ++finished, latency += now - o.sent;
    }
    while (in_flight == 0 || in_flight + held.bytes <= window) {
      in_flight += held.bytes;
      const uint64_t first = held.address.value / uint64_t(h.atom);
      const uint64_t last = (held.address.value + held.bytes - 1) / uint64_t(h.atom);
      objects.push_back({now, int64_t(held.bytes), int64_t(last - first + 1), 0});
      for (uint64_t a = first; a <= last; ++a) {
        const Place p = place_of(h, a * uint64_t(h.atom));
        const int64_t bank =
            ((p.pc * h.stack_ids + p.sid) * h.bank_groups + p.group) * h.banks + p.bank;
        channels[size_t(p.channel)].fifo.push_back(
            {int64_t(objects.size()) - 1, p.row, int(bank), held.write});
      }
      held = next();
    }
    for (Channel& c : channels) {
      c.step(now, [&](int64_t object, int64_t at) {
        Object& o = objects[size_t(object)];
        o.end = std::max(o.end, at);
        if (--o.left > 0) return;
        endings.push_back({o.end, object});
        std::push_heap(endings.begin(), endings.end(), std::greater<>());
      });
    }
  }
  for (Channel& c : channels) hits += c.hits, atoms += c.atoms, activates += c.activates;
  return {.bytes_per_second = double(bytes) / (us * 1e-6),
          .latency_ns = double(latency) / double(std::max<int64_t>(1, finished)) * rules.tick_ns,
          .hit_share = double(hits) / double(std::max<int64_t>(1, atoms)),
          .activates = double(activates) / (us * 1e-6)};
}

}  // namespace daybreak::sim::test
