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

}  // namespace daybreak::sim
