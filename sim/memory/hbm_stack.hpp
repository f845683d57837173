// One HBM stack as a SystemC module: its channels, at most one pending event.
//
// What a decision at tick d brings about ends at d + lead or later, so decisions are taken up to
// lead late, many per wake-up, one channel after the other: they share nothing but counters.
#pragma once
#include <systemc>
#include <vector>

#include "sim/memory/hbm_channel.hpp"
#include "sim/memory/wake.hpp"

namespace daybreak::sim {

class HbmStack : public sc_core::sc_module {
 public:
  HbmStack(sc_core::sc_module_name, const HbmConfig&, DramListener&);

  // A piece of a request reaches its channel's controller at `at` fs, not before now.
  void push(const RowPiece& piece, bool write, uint64_t owner, int64_t at) {
    if (at != last_at_) {
      last_at_ = at;
      last_tick_ = shared_.timing.clock_tick_of(at);
    }
    channels_[piece.channel].push({.at = last_tick_,
                                   .owner = owner,
                                   .row = piece.row,
                                   .bank = uint16_t(piece.bank),
                                   .write = write,
                                   .atoms = uint16_t(piece.atoms)});
    rearm(last_tick_);
  }
  const HbmStats& stats() const { return shared_.stats; }
  int64_t in_flight() const { return shared_.in_flight; }
  void log_commands(std::vector<HbmCommand>* to) { shared_.log = to; }
  const HbmTiming& timing() const { return shared_.timing; }

 private:
  void run();
  void rearm(int64_t next) {
    wake_.at((next + shared_.timing.lead(shared_.writes > 0)) * shared_.timing.tick_fs);
  }

  HbmShared shared_;
  std::vector<HbmChannel> channels_;
  int64_t last_at_ = -1, last_tick_ = 0;  // fs, and as ticks: many pieces arrive together
  Wake wake_;
};

}  // namespace daybreak::sim
