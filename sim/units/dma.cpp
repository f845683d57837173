#include "sim/units/dma.hpp"

#include <algorithm>
#include <cmath>

namespace daybreak::sim {
namespace {

// A tag holds the transfer's place, its bytes on the port (derated), its kind and when it was
// submitted.
constexpr int kPlaceBits = 12, kBytesBits = 20, kKindBits = 2, kTimeBits = 30;
constexpr int64_t kMost = int64_t(1) << kPlaceBits;

uint64_t tag_of(uint64_t place, int64_t bytes, int kind, Cycle now) {
  const uint64_t time = uint64_t(now) & ((uint64_t(1) << kTimeBits) - 1);
  return ((place << kBytesBits | uint64_t(bytes)) << kKindBits | uint64_t(kind)) << kTimeBits |
         time;
}

}  // namespace

DmaQueue::DmaQueue(const sc_core::sc_module_name& name, RunState& run, CoreState& core,
                   TaskKeeper& keeper, isa::Queue queue, DmaEngine& engine)
    : QueueUnit(name, run, core, keeper, queue, Inside::concurrent,
                int(std::min(run.config.core.dma.outstanding, kMost))),
      config_(run.config.core.dma),
      engine_(engine),
      ring_(size_t(std::min(run.config.core.dma.outstanding, kMost))) {
  engine.queues[queue == isa::Queue::dma_out] = this;
}

void DmaQueue::begin_task() {
  QueueUnit::begin_task();
  blocked_ = false;
  link_ = nullptr;
  deliveries_ = 0;
}

void DmaQueue::end_task(Cycle end) {
  account(std::min(end, busy_until_), traces::Cause::no_task);
  if (link_) run_.pairs.ended(core_.task.launch, core_.task.number);
  QueueUnit::end_task(end);
}

void DmaQueue::step(Cycle now) { advance(now); }

void DmaQueue::advance(Cycle now) {
  if (advancing_) return;
  advancing_ = true;
  bool moved = true;
  while (moved && !run_.stopped()) {
    moved = retire_next(now);
    moved = begin_next(now) || moved;
    moved = front(now) || moved;
    moved = back(now) || moved;
  }
  advancing_ = false;
}

bool DmaQueue::begin_next(Cycle now) {
  if (blocked_) return false;
  if (!starting_) {
    if (has_front_ || begun_ - retired_ >= ring_.size()) return false;
    starting_ = decide(now, begun_ == retired_);
    if (!starting_) return false;
    announce(starting_->flight.entry);
  }
  if (starting_->flight.started > now) {
    wake_at(starting_->flight.started);
    return false;
  }
  Started s = std::move(*starting_);
  starting_.reset();
  begin(std::move(s));
  return true;
}

void DmaQueue::begin(Started&& s) {
  const Cycle start = s.flight.started;
  track_.until(std::min(start, busy_until_), traces::Cause::busy, launch());
  if (mine_ > 0)
    track_.until(start, idle_cause(), launch());
  else
    account_start(s);
  const isa::Instruction& i = entry(s.flight.entry).instruction;
  const bool order_only =
      std::holds_alternative<isa::Signal>(i) || std::holds_alternative<isa::Wait>(i);
  front_ = begun_++;
  has_front_ = true;
  Transfer& t = at(front_);
  t.flight = std::move(s.flight);
  plan_transfer(core_, queue_, engine_.lookups, t);
  declare_share(t, start);
  t.flight.move = {.decoding = order_only ? 1 : config_.descriptor_issue,
                   .walks = !t.walks.empty(),
                   .share = traces::Share(t.sharing)};
  front_ready_ = start + t.flight.move.decoding;
  busy_until_ = std::max(busy_until_, front_ready_);
}

bool DmaQueue::front(Cycle now) {
  if (!has_front_) return false;
  if (front_ready_ > now) {
    wake_at(front_ready_);
    return false;
  }
  Transfer& t = at(front_);
  if (t.piece < t.fetches) return issue(front_, now, t.fetches, Kind::fetch);
  traces::MoveStages& stages = t.flight.move;
  if (t.sharing == isa::Sharing::receives) {
    stages.named = stages.began = now;
    has_front_ = false;
    return true;
  }
  if (t.pending > 0) return false;
  if (stages.named == traces::kNone) stages.named = now;
  if (has_back_) return false;
  stages.began = now;
  back_ = front_;
  has_back_ = true;
  has_front_ = false;
  return true;
}

bool DmaQueue::back(Cycle now) {
  if (!has_back_) return false;
  Transfer& t = at(back_);
  if (t.walk < t.walks.size()) return walk(t, now);
  if (!t.walks.empty() && t.piece == t.fetches && t.pending > 0) return false;
  if (t.sharing == isa::Sharing::delivers && !may_deliver(t, now)) return false;
  if (t.flight.move.allowed == traces::kNone) t.flight.move.allowed = now;
  if (t.piece < t.pieces.size())
    return issue(back_, now, t.pieces.size(), t.pieces[t.piece].write ? Kind::write : Kind::read);
  if (issue_free_ > now) {
    wake_at(issue_free_);
    return false;
  }
  if (t.inside > 0) {
    issue_free_ = now + t.inside;
    t.flight.move.issuing += t.inside;
    busy(now, issue_free_);
  }
  t.data_at = std::max({t.data_at, issue_free_ + t.tail, now});
  t.issued = true;
  t.flight.move.asked = now;
  has_back_ = false;
  return true;
}

PairLink& DmaQueue::link() {
  if (!link_) link_ = &run_.pairs.of(core_.task.launch, core_.task.number);
  return *link_;
}

void DmaQueue::declare_share(Transfer& t, Cycle start) {
  if (t.sharing == isa::Sharing::delivers) t.share = deliveries_++;
  if (t.sharing != isa::Sharing::receives) return;
  PairDirection& in = link().towards(core_.task.number);
  t.share = in.free.size();
  in.free.push_back(start + config_.pair_latency);
  in.giver.resume_all();
}

bool DmaQueue::may_deliver(const Transfer& t, Cycle now) {
  PairDirection& out = link().from(core_.task.number);
  if (out.free.size() <= t.share) {
    out.giver.add(this);
    return false;
  }
  if (out.free[t.share] <= now) return true;
  wake_at(out.free[t.share]);
  return false;
}

// The rows passed the port while the giver's requests were answered: they take its time, and are
// there no earlier than the giver says.
bool DmaQueue::has_landed(Transfer& t) {
  PairDirection& in = link().towards(core_.task.number);
  if (in.landed.size() <= t.share) {
    in.taker.add(this);
    return false;
  }
  const auto& gather = std::get<isa::Gather>(entry(t.flight.entry).instruction);
  port_bytes_ += gather.to.bytes();
  t.data_at = std::max(in.landed[t.share], ceil_div(port_bytes_, config_.bytes_per_cycle));
  t.issued = true;
  return true;
}

bool DmaQueue::issue_slot(Cycle now, int64_t& room) {
  if (issue_free_ > now) {
    wake_at(issue_free_);
    return false;
  }
  room = engine_.limit - engine_.in_flight;
  for (const DmaQueue* other : engine_.queues)
    if (other && other != this && other->limited_)
      room = std::min(room, std::max<int64_t>(1, engine_.limit / 2) - mine_);
  limited_ = room <= 0;
  return !limited_;
}

// Requests of the next piece that never cross a line, at most `room`; returns their bytes.
int64_t DmaQueue::append(uint64_t number, Kind kind, Cycle now, int64_t room) {
  Transfer& t = at(number);
  const isa::Segment& s = t.pieces[t.piece];
  const uint64_t line = uint64_t(run_.config.l2.line);
  const double derate = s.address.value % uint64_t(config_.align) ? config_.align_derate : 1.0;
  int64_t total = 0;
  while (t.offset < s.bytes.value && room-- > 0) {
    const uint64_t a = s.address.value + uint64_t(t.offset);
    const int64_t bytes =
        std::min({s.bytes.value - t.offset, config_.request, int64_t(line - a % line)});
    const int64_t on_port = derate == 1.0 ? bytes : int64_t(std::ceil(double(bytes) / derate));
    bursts_.push_back({.address = Address(a),
                       .bytes = uint32_t(bytes),
                       .write = s.write,
                       .tag = tag_of(number % ring_.size(), on_port, int(kind), now),
                       .around_l2 = t.around_l2});
    t.offset += bytes;
    total += on_port;
  }
  if (t.offset >= s.bytes.value) {
    ++t.piece;
    t.offset = 0;
  }
  return total;
}

bool DmaQueue::issue(uint64_t number, Cycle now, size_t until, Kind kind) {
  int64_t room = 0;
  if (!issue_slot(now, room)) return false;
  room = std::min<int64_t>(room, kBatch);
  Transfer& t = at(number);
  const bool by_row = t.by_row && kind != Kind::fetch, first = t.offset == 0;
  bursts_.clear();
  int64_t bytes = 0;
  do {
    bytes += append(number, kind, now, room - int64_t(bursts_.size()));
  } while (!by_row && t.piece < until && t.pieces[t.piece].write == (kind == Kind::write) &&
           int64_t(bursts_.size()) < room);
  const int64_t count = int64_t(bursts_.size());
  Cycle cost = kind == Kind::write ? ceil_div(bytes, config_.bytes_per_cycle) : count;
  if (by_row && first) cost = std::max(cost, config_.row_issue);
  busy(now, now + cost);
  issue_free_ = now + cost;
  if (kind != Kind::fetch) {
    t.flight.move.issuing += cost;
    t.flight.move.requests += count;
  }
  t.pending += count;
  mine_ += count;
  engine_.in_flight += count;
  engine_.port.submit(bursts_, *this);
  return true;
}

bool DmaQueue::walk(Transfer& t, Cycle now) {
  int64_t room = 0;
  if (!issue_slot(now, room)) return false;
  LaunchResult& result = run_.results[size_t(launch())];
  Cycle looked = 0;
  while (t.walk < t.walks.size() && engine_.tlb.lookup(t.walks[t.walk])) ++t.walk, ++looked;
  result.tlb_hits += looked;
  if (looked > 0) {
    busy(now, now + looked);
    t.flight.move.issuing += looked;
    issue_free_ = now + looked;
    return true;
  }
  if (walking_ >= config_.tlb.walkers) return false;
  const Address entry = t.walks[t.walk++], begin = engine_.tlb.fill_begin(entry);
  const int64_t line = run_.config.l2.line;
  const int64_t bytes = std::min(engine_.tlb.fill_bytes(), line - int64_t(begin.value) % line);
  engine_.tlb.fill(entry);
  ++result.tlb_misses;
  result.read_bytes += bytes;
  busy(now, now + 1);
  ++t.flight.move.issuing;
  issue_free_ = now + 1;
  ++t.pending, ++mine_, ++walking_, ++engine_.in_flight;
  const Burst burst{.address = begin,
                    .bytes = uint32_t(bytes),
                    .write = false,
                    .tag = tag_of(back_ % ring_.size(), bytes, int(Kind::walk), now)};
  engine_.port.submit(std::span(&burst, 1), *this);
  return true;
}

void DmaQueue::completed(std::span<const Completion> list) {
  guarded([&] {
    const Cycle now = run_.clock.now();
    for (const Completion& c : list) one_completed(c, now);
    wake_at(now);
    for (DmaQueue* other : engine_.queues)
      if (other && other != this && other->limited_) other->wake_at(now);
  });
}

void DmaQueue::one_completed(const Completion& c, Cycle now) {
  const uint64_t mask = (uint64_t(1) << kTimeBits) - 1;
  const Cycle submitted = now - Cycle((uint64_t(now) - c.tag) & mask);
  const uint64_t rest = c.tag >> kTimeBits;
  const Kind kind = Kind(rest & ((1 << kKindBits) - 1));
  const int64_t bytes = int64_t(rest >> kKindBits & ((uint64_t(1) << kBytesBits) - 1));
  Transfer& t = ring_[size_t(rest >> (kKindBits + kBytesBits))];
  last_ = kind == Kind::walk ? traces::Cause::tlb_walk : cause_of(c, submitted, now);
  account(now, last_);
  --t.pending, --mine_, --engine_.in_flight;
  if (kind == Kind::walk) --walking_;
  LaunchResult& result = run_.results[size_t(launch())];
  ++(c.l2_hit ? result.l2_hits : result.l2_misses);
  Cycle done = now;
  if (kind == Kind::read) {
    port_bytes_ = std::max(port_bytes_, now * config_.bytes_per_cycle) + bytes;
    done = ceil_div(port_bytes_, config_.bytes_per_cycle);
    busy(now, done);
    if (t.converts) done = convert(t, bytes, done);
  }
  if (kind == Kind::fetch && t.converts) last_ = traces::Cause::scale_miss;
  if (done < t.data_at) return;
  t.data_at = done;
  note_last(t.flight.move, c, submitted, now, done);
}

Cycle DmaQueue::convert(Transfer& t, int64_t bytes, Cycle done) {
  const int64_t elements = 2 * bytes;  // one byte each once converted
  const Cycle begin = done - ceil_div(bytes, config_.bytes_per_cycle);  // it streams
  converted_ = std::max(converted_, begin * config_.convert_lanes) + elements;
  filled_ = std::max(filled_, begin * config_.workspace_write) + elements;
  const Cycle lanes = ceil_div(converted_, config_.convert_lanes);
  const Cycle written = ceil_div(filled_, config_.workspace_write);
  const Cycle in_place = std::max(lanes, written);
  t.late = in_place <= done   ? traces::Cause::busy
           : lanes >= written ? traces::Cause::convert_lanes
                              : traces::Cause::workspace;
  return std::max(done, in_place);
}

bool DmaQueue::retire_next(Cycle now) {
  if (retired_ == begun_) return false;
  Transfer& t = at(retired_);
  const bool decoding = has_front_ && front_ == retired_;
  if (t.sharing == isa::Sharing::receives && !t.issued && (decoding || !has_landed(t)))
    return false;
  if (!t.issued || t.pending > 0) return false;
  if (t.data_at > now) {
    wake_at(t.data_at);
    return false;
  }
  if (t.tail > 0) account(now, traces::Cause::workspace);
  if (t.late != traces::Cause::busy) account(now, t.late);
  if (blocked_) account(now, traces::Cause::semaphore);
  blocked_ = !retire(t.flight, now);
  if (blocked_) return false;
  if (t.sharing == isa::Sharing::delivers) {
    PairDirection& out = link().from(core_.task.number);
    out.landed.push_back(now + config_.pair_latency);
    out.taker.resume_all();
  }
  t.flight.move.landed = t.data_at;
  const InFlight done = std::move(t.flight);
  ++retired_;
  retired(done, now);
  return true;
}

void DmaQueue::account(Cycle to, traces::Cause rest) {
  track_.until(std::min(to, busy_until_), traces::Cause::busy, launch());
  track_.until(to, rest, launch());
}

void DmaQueue::busy(Cycle from, Cycle until) {
  account(from, idle_cause());
  busy_until_ = std::max(busy_until_, until);
}

traces::Cause DmaQueue::idle_cause() const {
  if (walking_ > 0) return traces::Cause::tlb_walk;
  return mine_ > 0 ? last_ : traces::Cause::semaphore;
}

traces::Cause DmaQueue::cause_of(const Completion& c, Cycle submitted, Cycle now) const {
  const auto unloaded = limited_ ? traces::Cause::outstanding : traces::Cause::noc;
  int64_t rest = int64_t((run_.clock.time_of(now) - run_.clock.time_of(submitted)).value());
  traces::Cause cause = unloaded;
  int64_t most = 0;
  for (size_t i = 0; i < c.delay.by.size(); ++i) {
    rest -= c.delay.by[i];
    if (c.delay.by[i] <= most) continue;
    most = c.delay.by[i];
    cause = Delay::kCauses[i];
  }
  if (rest >= most) return unloaded;
  return limited_ && cause == traces::Cause::l2_miss ? traces::Cause::outstanding : cause;
}

void DmaQueue::note_last(traces::MoveStages& m, const Completion& c, Cycle submitted, Cycle now,
                         Cycle done) const {
  const int64_t period = int64_t(run_.clock.time_of(1).value());
  int64_t rest = now - submitted;
  for (size_t i = 0; i < m.waited.size(); ++i) {
    m.waited[i] = int32_t(std::min(rest, c.delay[traces::Cause(i)] / period));
    rest -= m.waited[i];
  }
  m.unloaded = int32_t(rest);
  m.waited[size_t(traces::Cause::busy)] += int32_t(done - now);
}

std::string DmaQueue::waiting_inside() const {
  if (retired_ == begun_) return {};
  const Transfer& t = ring_[retired_ % ring_.size()];
  const std::string who = name_of_entry(t.flight.entry);
  if (blocked_)
    return who + " waits to signal semaphore " +
           std::to_string(entry(t.flight.entry).signals[t.flight.signals_given].value) +
           ", which is at its maximum and which nothing takes";
  if (t.pending > 0) return who + " waits for memory";
  if (t.sharing == isa::Sharing::alone) return {};
  return who + " waits for task " + std::to_string(core_.task.number ^ 1) +
         ", with which it shares rows";
}

}  // namespace daybreak::sim
