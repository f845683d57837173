#include "sim/memory/hbm.hpp"

#include <fmt/core.h>

#include "configs/reader/errors.hpp"

namespace daybreak::sim {

HbmStats& HbmStats::operator+=(const HbmStats& o) {
  read_bytes += o.read_bytes;
  write_bytes += o.write_bytes;
  row_hits += o.row_hits;
  row_misses += o.row_misses;
  row_conflicts += o.row_conflicts;
  activates += o.activates;
  refreshes += o.refreshes;
  refresh_stall += o.refresh_stall;
  return *this;
}

Hbm::Hbm(const HbmConfig& config, DramListener& listener) : checked_(config), map_(config) {
  for (int64_t s = 0; s < config.stacks; ++s) {
    const std::string name = fmt::format("hbm{}", s);
    stacks_.push_back(std::make_unique<HbmStack>(name.c_str(), config, listener));
  }
}

int Hbm::request(uint64_t address, uint64_t bytes, bool write, uint64_t owner, int64_t at) {
  int pieces = 0;
  map_.split(address, bytes, [&](const RowPiece& piece) {
    stacks_[piece.stack]->push(piece, write, owner, at);
    ++pieces;
  });
  return pieces;
}

HbmStats Hbm::stats() const {
  HbmStats sum;
  for (const auto& stack : stacks_) sum += stack->stats();
  return sum;
}

bool Hbm::idle() const {
  for (const auto& stack : stacks_) {
    if (stack->in_flight() > 0) return false;
  }
  return true;
}

HbmPort::HbmPort(sc_core::sc_module_name name, const HbmConfig& config, int64_t controller_fs)
    : sc_module(name), hbm_(config, *this), controller_fs_(controller_fs) {
  SC_HAS_PROCESS(HbmPort);
  SC_METHOD(run);
  sensitive << wake_.event();
  dont_initialize();
}

void HbmPort::submit(std::span<const Burst> bursts, MemoryClient& client) {
  const int64_t at = now_fs() + controller_fs_;
  for (const Burst& burst : bursts) {
    if (burst.bytes == 0) throw InvariantError(fmt::format("{}: a burst of 0 bytes", name()));
    int32_t index = free_;
    if (index >= 0) {
      free_ = transfers_[index].next;
    } else {
      index = int32_t(transfers_.size());
      transfers_.emplace_back();
    }
    transfers_[index] = {.client = &client, .tag = burst.tag, .delay = {}};
    ++outstanding_;
    transfers_[index].pieces =
        hbm_.request(burst.address.value, burst.bytes, burst.write, uint64_t(index), at);
  }
}

void HbmPort::served(uint64_t owner, int64_t tick, const RunDelay& delay) {
  Transfer& transfer = transfers_[owner];
  if (tick > transfer.at) transfer.at = tick, transfer.delay = delay;
  if (--transfer.pieces > 0) return;
  done_.push(transfer.at, int32_t(owner));
  wake_.at(transfer.at * hbm_.timing().tick_fs);
}

void HbmPort::run() {
  wake_.taken();
  const int64_t now = now_fs(), tick_fs = hbm_.timing().tick_fs, tick = now / tick_fs;
  int64_t at;
  int32_t index;
  while (done_.pop(tick, at, index)) {
    Transfer& t = transfers_[index];
    delivery_.add(t.client, {.tag = t.tag,
                             .at = Femtoseconds(now),
                             .l2_hit = false,
                             .delay = {{0, 0, t.delay.row * tick_fs, t.delay.bandwidth * tick_fs,
                                        t.delay.refresh * tick_fs}}});
    t.next = free_;
    free_ = index;
    --outstanding_;
  }
  if (!done_.empty()) wake_.at(done_.next() * tick_fs);
  delivery_.deliver();
}

}  // namespace daybreak::sim
