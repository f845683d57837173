// What every module of one run shares: the description, the program's surroundings, the observers,
// the results, and the first error.
#pragma once
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "configs/reader/errors.hpp"
#include "sim/chip/chip.hpp"
#include "sim/core/clock.hpp"
#include "sim/core/launch_order.hpp"
#include "sim/core/memory_order.hpp"
#include "sim/core/pair_link.hpp"
#include "sim/core/timeline.hpp"

namespace daybreak::sim {

// An invariant error whose message already starts with time and module path.
struct LocatedError : InvariantError {
  using InvariantError::InvariantError;
};

struct RunState {
  const ChipConfig& config;
  isa::MemoryImage& memory;
  isa::BindingTable& bindings;
  isa::TaskSource& source;
  const ChipOptions& options;
  std::span<const isa::Launch> launches;
  std::span<traces::Observer* const> observers;
  CoreClock clock;
  const LaunchOrder& launch_order;
  MemoryOrder memory_order;
  Timeline timeline;
  std::vector<LaunchResult> results;
  isa::ConversionCounters conversions = {};
  Cycle last_retirement = 0;
  bool finished = false;
  std::exception_ptr error;
  int32_t units = 0;  // ids given so far
  PairLinks pairs = {};

  // Whether accesses to a binding go around the L2.
  bool around_l2(uint16_t binding) const {
    return options.workspace == binding && config.core.dma.workspace == "hbm";
  }

  bool stopped() const { return finished || error; }
  bool observed() const { return !observers.empty(); }
  // Ends the simulation with the current exception, located at `path`.
  void fail(const std::string& path);
  void finish();
  // Registers a unit with the observers and returns its id.
  int32_t add_unit(int core, const std::string& path, const std::string& kind, int slots);

  template <class F> void observe(F&& f) const {
    for (traces::Observer* o : observers) f(*o);
  }
};

}  // namespace daybreak::sim
