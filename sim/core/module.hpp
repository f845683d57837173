// Base of every SystemC module here: one SC_METHOD, one pending event, errors that carry time and
// path.
#pragma once
#include "sim/core/run_state.hpp"

namespace daybreak::sim {

class Module : public sc_core::sc_module {
 public:
  Module(const sc_core::sc_module_name& name, RunState& run);
  std::string path() const { return name(); }

 protected:
  // Called when a wake asked for is due (or earlier).
  virtual void step(Cycle now) = 0;
  void wake_at(Cycle c) { wakeup_.at(c, run_.clock); }
  // Runs f; an exception ends the simulation instead of crossing SystemC.
  template <class F> void guarded(F&& f) {
    if (run_.stopped()) return;
    try {
      f();
    } catch (...) { run_.fail(path()); }
  }

  RunState& run_;

 private:
  void woken();
  Wakeup wakeup_;
};

}  // namespace daybreak::sim
