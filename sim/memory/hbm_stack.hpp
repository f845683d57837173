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
  void push(const RowPiece&, bool write, uint64_t owner, int64_t at);
  const HbmStats& stats() const { return shared_.stats; }
  int64_t in_flight() const { return shared_.in_flight; }
  void log_commands(std::vector<HbmCommand>* to) { shared_.log = to; }
  const HbmTiming& timing() const { return shared_.timing; }

 private:
  void run();
  void rearm(int64_t next);

  HbmShared shared_;
  std::vector<HbmChannel> channels_;
  Wake wake_;
};

}  // namespace daybreak::sim
