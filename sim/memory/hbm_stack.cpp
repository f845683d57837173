#include "sim/memory/hbm_stack.hpp"

namespace daybreak::sim {

HbmStack::HbmStack(sc_core::sc_module_name name, const HbmConfig& config, HbmListener& listener)
    : sc_module(name), shared_(config, listener) {
  channels_.reserve(config.channels);
  for (int64_t c = 0; c < config.channels; ++c) channels_.emplace_back(shared_, uint16_t(c));
  SC_HAS_PROCESS(HbmStack);
  SC_METHOD(run);
  sensitive << wake_.event();
  dont_initialize();
}

void HbmStack::push(const RowPiece& piece, bool write, uint64_t owner, int64_t at) {
  const int32_t index = shared_.take_run();
  const int64_t tick = shared_.timing.clock_tick_of(at);
  shared_.runs[index] = {.owner = owner,
                         .arrived = tick,
                         .admitted = tick,
                         .bank = piece.bank,
                         .row = piece.row,
                         .atoms = piece.atoms,
                         .channel = uint16_t(piece.channel),
                         .write = write};
  shared_.wheel.push(tick, {index, uint16_t(piece.channel), piece.bank});
  rearm();
}

void HbmStack::run() {
  wake_.taken();
  const int64_t now = now_fs() / shared_.timing.tick_fs;
  int64_t at;
  HbmShared::Event event;
  while (shared_.wheel.pop(now, at, event)) {
    HbmChannel& channel = channels_[event.channel];
    if (event.run >= 0) {
      channel.arrive(event.run, at);
    } else {
      channel.decide(event.bank, at);
    }
  }
  rearm();
}

void HbmStack::rearm() {
  if (shared_.wheel.empty()) return;
  wake_.at((shared_.wheel.next() + shared_.timing.lead()) * shared_.timing.tick_fs);
}

}  // namespace daybreak::sim
