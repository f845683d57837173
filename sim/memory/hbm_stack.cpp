#include "sim/memory/hbm_stack.hpp"

namespace daybreak::sim {

HbmStack::HbmStack(sc_core::sc_module_name name, const HbmConfig& config, DramListener& listener)
    : sc_module(name), shared_(config, listener) {
  channels_.reserve(config.channels);
  for (int64_t c = 0; c < config.channels; ++c) channels_.emplace_back(shared_, uint16_t(c));
  SC_HAS_PROCESS(HbmStack);
  SC_METHOD(run);
  sensitive << wake_.event();
  dont_initialize();
}

void HbmStack::push(const RowPiece& piece, bool write, uint64_t owner, int64_t at) {
  const int64_t tick = shared_.timing.clock_tick_of(at);
  channels_[piece.channel].push({.at = tick,
                                 .owner = owner,
                                 .row = piece.row,
                                 .bank = uint16_t(piece.bank),
                                 .atoms = uint16_t(piece.atoms)},
                                write);
  rearm(tick);
}

void HbmStack::run() {
  wake_.taken();
  const int64_t now = now_fs() / shared_.timing.tick_fs;
  int64_t next = HbmChannel::kNever;
  for (HbmChannel& channel : channels_) {
    if (channel.next() <= now) channel.run(now);
    next = std::min(next, channel.next());
  }
  if (next != HbmChannel::kNever) rearm(next);
}

void HbmStack::rearm(int64_t next) {
  wake_.at((next + shared_.timing.lead(shared_.writes > 0)) * shared_.timing.tick_fs);
}

}  // namespace daybreak::sim
