#include "sim/core/module.hpp"

namespace daybreak::sim {

Module::Module(const sc_core::sc_module_name& name, RunState& run)
    : sc_core::sc_module(name), run_(run) {
  SC_HAS_PROCESS(Module);
  SC_METHOD(woken);
  sensitive << wakeup_.event();
  dont_initialize();
}

void Module::woken() {
  wakeup_.fired();
  guarded([this] { step(run_.clock.now()); });
}

}  // namespace daybreak::sim
