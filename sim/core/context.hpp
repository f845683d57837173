// A SystemC context of one's own for as long as this lives, with 1 fs resolution; the one before
// comes back. Build modules after it, destroy them before it.
#pragma once
#include <cstdlib>
#include <systemc>

namespace daybreak::sim {

class SystemContext {
 public:
  SystemContext()
      : before_(sc_core::sc_curr_simcontext), default_(sc_core::sc_default_global_context) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    mine_ = new sc_core::sc_simcontext;
    sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = mine_;
    sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  }
  ~SystemContext() {
    delete mine_;
    sc_core::sc_curr_simcontext = before_;
    sc_core::sc_default_global_context = default_;
  }
  SystemContext(const SystemContext&) = delete;

 private:
  sc_core::sc_simcontext *before_, *default_, *mine_ = nullptr;
};

}  // namespace daybreak::sim
