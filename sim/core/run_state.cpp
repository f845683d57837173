#include "sim/core/run_state.hpp"

#include <fmt/format.h>

namespace daybreak::sim {

void RunState::fail(const std::string& path) {
  if (error) return;
  try {
    throw;
  } catch (const LocatedError&) {
    error = std::current_exception();
  } catch (const InvariantError& e) {
    error = std::make_exception_ptr(
        LocatedError(fmt::format("cycle {}, {}: {}", clock.now(), path, e.what())));
  } catch (...) { error = std::current_exception(); }
  if (sc_core::sc_is_running()) sc_core::sc_pause();
}

void RunState::finish() {
  finished = true;
  if (sc_core::sc_is_running()) sc_core::sc_pause();
}

int32_t RunState::add_unit(int core, const std::string& path, const std::string& kind, int slots) {
  const traces::UnitInfo info{
      .id = units++, .core = core, .path = path, .kind = kind, .slots = slots};
  observe([&](traces::Observer& o) { o.unit(info); });
  return info.id;
}

}  // namespace daybreak::sim
