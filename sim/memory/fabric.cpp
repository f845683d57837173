#include "sim/memory/fabric.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "configs/reader/errors.hpp"
#include "sim/memory/hbm.hpp"

namespace daybreak::sim {
namespace {

// Takes an element from a pool whose free ones are chained through `next`.
template <class T> int32_t take(std::vector<T>& pool, int32_t& free) {
  if (free < 0) {
    pool.emplace_back();
    return int32_t(pool.size()) - 1;
  }
  const int32_t index = free;
  free = pool[index].next;
  pool[index] = T{};
  return index;
}

template <class T> void release(std::vector<T>& pool, int32_t& free, int32_t index) {
  pool[index].next = free;
  free = index;
}

}  // namespace

Fabric::Fabric(sc_core::sc_module_name name, const ChipConfig& c, const DramFactory& dram)
    : sc_module(name),
      period_(c.period().value),
      latency_(c.noc.latency),
      hit_latency_(c.l2.hit_latency),
      controller_(c.hbm.controller),
      slack_(std::min(latency_, hit_latency_ + controller_)),
      same_line_(c.l2.same_line),
      write_through_(c.l2.write == "through"),
      write_allocate_(c.l2.write_allocate),
      slowest_(uint32_t(std::min(c.noc.bytes_per_cycle, c.l2.slice_bytes_per_cycle))),
      dram_(dram ? dram(c.hbm, *this)
                 : std::make_unique<Hbm>(c.hbm, static_cast<DramListener&>(*this))),
      tick_fs_(dram_->tick_fs()),
      tags_(c.l2),
      noc_(c.noc, c.cores, c.l2.slices),
      slices_(c.l2.slices, Link(c.l2.slice_bytes_per_cycle)),
      hot_lines_(same_line_ > 0 ? size_t(c.l2.slices) * kHotLines : 0) {
  if (sc_core::sc_get_time_resolution() != sc_core::sc_time(1, sc_core::SC_FS)) {
    throw InvariantError(fmt::format("{}: SystemC's time resolution must be 1 fs", this->name()));
  }
  ports_.reserve(c.cores);
  for (int core = 0; core < int(c.cores); ++core) ports_.emplace_back(*this, core, c.noc);
  SC_HAS_PROCESS(Fabric);
  SC_METHOD(run);
  sensitive << wake_.event();
  dont_initialize();
}

MemoryPort& Fabric::port(int core) {
  if (core < 0 || core >= int(ports_.size())) {
    throw InvariantError(fmt::format("{}: no port {} among {}", name(), core, ports_.size()));
  }
  return ports_[core];
}

MemoryStats Fabric::stats() const {
  MemoryStats out{.hbm = dram_->stats(), .l2 = l2_, .cores = {}};
  for (const Port& port : ports_) {
    out.cores.push_back({.read_bytes = port.read_bytes,
                         .write_bytes = port.write_bytes,
                         .busy_in = port.in.busy(port.read_bytes),
                         .busy_out = port.out.busy(port.write_bytes)});
  }
  return out;
}

void Fabric::submit(Port& port, std::span<const Burst> bursts, MemoryClient& client) {
  const int64_t now = (now_fs() + period_ - 1) / period_;
  const uint64_t line_bytes = uint64_t(tags_.line_bytes());
  for (const Burst& burst : bursts) {
    if (burst.bytes == 0 || tags_.offset_of(burst.address.value) + burst.bytes > line_bytes) {
      throw InvariantError(fmt::format(
          "{} fs {}.port{}: a burst of {} B at address {} is not inside one line of {} B", now_fs(),
          name(), port.core, burst.bytes, burst.address.value, line_bytes));
    }
    const int32_t index = take(transfers_, free_transfer_);
    Transfer& t = transfers_[index];
    t.client = &client;
    t.tag = burst.tag;
    t.address = burst.address.value;
    t.bytes = burst.bytes;
    t.core = port.core;
    t.write = burst.write;
    t.around_l2 = burst.around_l2;
    const int64_t start = port.out.take(now, burst.write ? burst.bytes : 0);
    t.noc = start - now;
    (burst.write ? port.write_bytes : port.read_bytes) += burst.bytes;
    ++outstanding_;
    if (noc_.routed()) {
      t.router = noc_.of_core(port.core);
      t.target = noc_.of_slice(tags_.slice_of(tags_.line_of(t.address)));
    }
    path_.push(start + latency_, {noc_.routed() ? Step::hop : Step::arrive, index});
  }
  rearm();
}

void Fabric::rearm() {
  int64_t next = done_.next();
  if (!path_.empty()) next = std::min(next, path_.next() + slack_);
  if (next != EventWheel<int32_t>::kNever) wake_.at(next * period_);
}

void Fabric::run() {
  wake_.taken();
  const int64_t now = now_fs() / period_;
  int64_t at;
  PathEvent event;
  while (path_.pop(now, at, event)) {
    if (at != prefetched_) prefetch(at);
    switch (event.step) {
      case Step::hop: hop(event.index, at); break;
      case Step::arrive: arrive(event.index, at); break;
      case Step::filled: filled(event.index, at); break;
      case Step::leave: leave(event.index, at); break;
    }
  }
  int32_t index;
  while (done_.pop(now, at, index)) {
    delivery_.add(transfers_[index].client, completion_of(transfers_[index], now));
    release(transfers_, free_transfer_, index);
    --outstanding_;
  }
  rearm();
  if (!delivery_.empty()) delivery_.deliver();
}

// What events touch is seldom in a cache. While those of `cycle` are taken, what the next ones name
// comes in, and the transfers and fetches of the ones after them.
void Fabric::prefetch(int64_t cycle) {
  prefetched_ = cycle;
  const int64_t next = path_.next_after(cycle);
  path_.peek(next, [&](const PathEvent& e) {
    if (e.step == Step::arrive) tags_.prefetch_line(tags_.line_of(transfers_[e.index].address));
    if (e.step != Step::filled) return;
    const Fetch& fetch = fetches_[e.index];
    if (fetch.place != L2Tags::kAbsent) tags_.prefetch_place(fetch.place);
    if (fetch.first_waiter >= 0)
      __builtin_prefetch(&transfers_[waiters_[fetch.first_waiter].transfer]);
  });
  path_.peek(path_.next_after(next), [&](const PathEvent& e) {
    if (e.step == Step::filled)
      __builtin_prefetch(&fetches_[e.index]);
    else
      __builtin_prefetch(&transfers_[e.index]);
  });
}

Completion Fabric::completion_of(const Transfer& t, int64_t cycle) const {
  return {.tag = t.tag,
          .at = Femtoseconds(cycle * period_),
          .l2_hit = t.hit,
          .delay = {{t.noc * period_, t.l2_miss, t.late.row, t.late.bandwidth, t.late.refresh}}};
}

// A message at a router: on to the next one, or off the network.
void Fabric::hop(int32_t index, int64_t cycle) {
  Transfer& t = transfers_[index];
  if (t.router == t.target) return t.back ? deliver(index, cycle) : arrive(index, cycle);
  const Noc::Hop next = noc_.step(t.router, t.target, t.back == t.write ? 0 : t.bytes, cycle);
  t.router = next.router;
  t.noc += next.waited;
  path_.push(next.at, {Step::hop, index});
}

int64_t Fabric::after_same_line(int64_t slice, uint64_t line, int64_t cycle) {
  if (same_line_ == 0) return cycle;
  HotLine& hot = hot_lines_[size_t(slice) * kHotLines + size_t(line / slices_.size()) % kHotLines];
  if (hot.line == line) cycle = std::max(cycle, hot.free);
  hot = {line, cycle + same_line_};
  return cycle;
}

void Fabric::arrive(int32_t index, int64_t cycle) {
  Transfer& t = transfers_[index];
  const uint64_t line = tags_.line_of(t.address);
  const int64_t slice = tags_.slice_of(line);
  const int64_t start = after_same_line(slice, line, slices_[slice].take(cycle, t.bytes));
  t.noc += start - cycle;
  t.ready = start + hit_latency_;
  if (t.write) return write(index, line, start);
  read(index, line, tags_.touched(tags_.offset_of(t.address), t.bytes), start);
}

void Fabric::read(int32_t index, uint64_t line, uint64_t sectors, int64_t start) {
  if (transfers_[index].around_l2) {
    ++l2_.misses;
    ++l2_.bypasses;
    return wait_for(index, start_fetch(L2Tags::kAbsent, line, sectors, start + hit_latency_));
  }
  int64_t place = tags_.find(line);
  if (place != L2Tags::kAbsent) {
    uint64_t missing = sectors & ~tags_.valid(place);
    if (missing == 0) {
      ++l2_.hits;
      transfers_[index].hit = true;
      return path_.push(start + hit_latency_, {Step::leave, index});
    }
    bool merged = false;
    each_fetch(place, [&](int32_t f) {
      if ((fetches_[f].sectors & missing) == 0) return;
      missing &= ~fetches_[f].sectors;
      wait_for(index, f);
      merged = true;
    });
    ++l2_.misses;
    l2_.merged += merged;
    if (missing != 0) wait_for(index, start_fetch(place, line, missing, start + hit_latency_));
    return;
  }
  ++l2_.misses;
  place = allocate(line, start + hit_latency_);
  wait_for(index, start_fetch(place, line, sectors, start + hit_latency_));
}

void Fabric::write(int32_t index, uint64_t line, int64_t start) {
  Transfer& t = transfers_[index];
  const uint64_t offset = tags_.offset_of(t.address);
  const uint64_t touched = tags_.touched(offset, t.bytes), covered = tags_.covered(offset, t.bytes);
  int64_t place = t.around_l2 ? L2Tags::kAbsent : tags_.find(line);
  t.hit = place != L2Tags::kAbsent;
  ++(t.hit ? l2_.hits : l2_.misses);
  l2_.bypasses += t.around_l2;
  if (place == L2Tags::kAbsent && write_allocate_ && !t.around_l2)
    place = allocate(line, start + hit_latency_);
  if (place == L2Tags::kAbsent || write_through_) {
    to_hbm(line, touched, true, kNobody, start + hit_latency_);
  }
  if (place != L2Tags::kAbsent) {
    uint64_t partial = touched & ~covered & ~tags_.valid(place);
    each_fetch(place, [&](int32_t f) { partial &= ~fetches_[f].sectors; });
    tags_.add_valid(place, covered);
    if (!write_through_) tags_.add_dirty(place, touched);
    if (partial != 0) start_fetch(place, line, partial, start + hit_latency_);
  }
  // The acknowledge carries no bytes and meets nobody.
  const int64_t hops = noc_.unloaded(noc_.of_slice(tags_.slice_of(line)), noc_.of_core(t.core));
  done_.push(start + own(t.bytes) + latency_ + hops, index);
}

int64_t Fabric::allocate(uint64_t line, int64_t cycle) {
  const int64_t place = tags_.victim(line);
  if (place == L2Tags::kAbsent) {
    ++l2_.bypasses;
    return place;
  }
  if (tags_.used(place)) {
    ++l2_.evictions;
    const uint64_t dirty = tags_.dirty(place);
    if (dirty != 0) {
      ++l2_.writebacks;
      l2_.written_back_bytes += std::popcount(dirty) * tags_.sector_bytes();
      to_hbm(tags_.line(place), dirty, true, kNobody, cycle);
    }
  }
  tags_.replace(place, line);
  return place;
}

int32_t Fabric::start_fetch(int64_t place, uint64_t line, uint64_t sectors, int64_t cycle) {
  const int32_t index = take(fetches_, free_fetch_);
  ++fetches_in_flight_;
  l2_.fetched_bytes += std::popcount(sectors) * tags_.sector_bytes();
  Fetch& fetch = fetches_[index];
  fetch.place = place;
  fetch.sectors = sectors;
  if (place != L2Tags::kAbsent) {
    fetch.next = fetches_of(place);
    fetches_of(place) = index;
    tags_.bind(place, true);
  }
  fetch.pieces = to_hbm(line, sectors, false, uint64_t(index), cycle);
  return index;
}

void Fabric::wait_for(int32_t transfer, int32_t index) {
  const int32_t waiter = take(waiters_, free_waiter_);
  waiters_[waiter].transfer = transfer;
  Fetch& fetch = fetches_[index];
  if (fetch.first_waiter < 0) {
    fetch.first_waiter = waiter;
  } else {
    waiters_[fetch.last_waiter].next = waiter;
  }
  fetch.last_waiter = waiter;
  ++transfers_[transfer].waits;
}

int Fabric::to_hbm(uint64_t line, uint64_t sectors, bool write, uint64_t owner, int64_t cycle) {
  const int64_t at = (cycle + controller_) * period_;
  const uint64_t sector = uint64_t(tags_.sector_bytes()),
                 base = line * uint64_t(tags_.line_bytes());
  int pieces = 0;
  while (sectors != 0) {
    const int first = std::countr_zero(sectors);
    const int count = std::countr_one(sectors >> first);
    pieces +=
        dram_->request(base + uint64_t(first) * sector, uint64_t(count) * sector, write, owner, at);
    if (first + count >= 64) break;
    sectors &= ~uint64_t{0} << (first + count);
  }
  return pieces;
}

void Fabric::served(uint64_t owner, int64_t tick, const RunDelay& late) {
  if (owner == kNobody) return;
  Fetch& fetch = fetches_[owner];
  if (tick * tick_fs_ > fetch.at) {
    fetch.at = tick * tick_fs_;
    fetch.late = {late.row * tick_fs_, late.bandwidth * tick_fs_, late.refresh * tick_fs_};
  }
  if (--fetch.pieces > 0) return;
  path_.push((fetch.at + period_ - 1) / period_, {Step::filled, int32_t(owner)});
  rearm();
}

void Fabric::filled(int32_t index, int64_t cycle) {
  const Fetch& fetch = fetches_[index];
  if (fetch.place != L2Tags::kAbsent) {
    tags_.add_valid(fetch.place, fetch.sectors);
    int32_t* link = &fetches_of(fetch.place);
    while (*link != index) link = &fetches_[*link].next;
    *link = fetch.next;
    bool others = false;
    each_fetch(fetch.place, [&](int32_t) { others = true; });
    if (!others) tags_.bind(fetch.place, false);
  }
  for (int32_t w = fetch.first_waiter; w >= 0;) {
    const Waiter waiter = waiters_[w];
    if (--transfers_[waiter.transfer].waits == 0) resume(waiter.transfer, fetch, cycle);
    release(waiters_, free_waiter_, w);
    w = waiter.next;
  }
  release(fetches_, free_fetch_, index);
  --fetches_in_flight_;
}

// The last data a transfer waited for are there: what the wait was spent on, then on to the core.
void Fabric::resume(int32_t index, const Fetch& fetch, int64_t cycle) {
  Transfer& t = transfers_[index];
  if (cycle <= t.ready) return path_.push(t.ready, {Step::leave, index});
  int64_t rest = (cycle - t.ready) * period_;
  auto part = [&rest](int64_t want) {
    const int64_t given = std::min(rest, want);
    rest -= given;
    return given;
  };
  t.late.refresh = part(fetch.late.refresh);
  t.late.bandwidth = part(fetch.late.bandwidth);
  t.late.row = part(fetch.late.row);
  t.l2_miss = rest;
  leave(index, cycle);
}

// Data leave the slice at `cycle`.
void Fabric::leave(int32_t index, int64_t cycle) {
  if (!noc_.routed()) return deliver(index, cycle);
  Transfer& t = transfers_[index];
  t.back = true;
  t.target = noc_.of_core(t.core);
  hop(index, cycle);
}

// The core's link takes the data one latency later.
void Fabric::deliver(int32_t index, int64_t cycle) {
  Transfer& t = transfers_[index];
  const int64_t first = cycle + latency_;
  const int64_t start = ports_[t.core].in.take(first, t.bytes);
  t.noc += start - first;
  done_.push(start + own(t.bytes), index);
}

}  // namespace daybreak::sim
