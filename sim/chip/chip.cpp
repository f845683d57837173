// Builds the SystemC hierarchy of one run, runs it to the end or to a deadlock, and takes it down
// again: every run has a SystemC context of its own, so several follow one another in one process.
#include "sim/chip/chip.hpp"

#include <fmt/format.h>

#include "sim/core/context.hpp"
#include "sim/core/core.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/units/scheduler.hpp"

namespace daybreak::sim {
namespace {

class HbmBackend : public MemoryBackend {
 public:
  explicit HbmBackend(const ChipConfig& config) : system_(config) {}
  MemoryPort& port(int core) override { return system_.port(core); }
  MemoryTotals totals() const override {
    const HbmStats hbm = system_.stats().hbm;
    return {.hbm_read_bytes = hbm.read_bytes,
            .hbm_write_bytes = hbm.write_bytes,
            .row_hits = hbm.row_hits,
            .row_misses = hbm.row_misses + hbm.row_conflicts,
            .row_conflicts = hbm.row_conflicts};
  }

 private:
  MemorySystem system_;
};

struct Top : sc_core::sc_module {
  Top(const sc_core::sc_module_name& name, RunState& run)
      : sc_core::sc_module(name),
        memory(run.options.memory ? run.options.memory(run.config)
                                  : std::make_unique<HbmBackend>(run.config)),
        scheduler("scheduler", run, *memory) {
    std::vector<Core*> list;
    for (int c = 0; c < run.config.cores; ++c) {
      const std::string core = "core" + std::to_string(c);
      cores.push_back(std::make_unique<Core>(core.c_str(), run, c, memory->port(c), scheduler));
      list.push_back(cores.back().get());
    }
    scheduler.set_cores(std::move(list));
  }
  std::unique_ptr<MemoryBackend> memory;
  Scheduler scheduler;
  std::vector<std::unique_ptr<Core>> cores;
};

[[noreturn]] void throw_deadlock(const RunState& run, const Top& top, const std::string& why) {
  std::string who = top.scheduler.waiting();
  for (const auto& core : top.cores) who += core->waiting();
  throw LocatedError(
      fmt::format("cycle {}, {}: deadlock: {}{}", run.clock.now(), top.name(), why, who));
}

void simulate(RunState& run, const Top& top) {
  const Cycle period = run.options.watchdog;
  while (!run.stopped()) {
    sc_core::sc_start(run.clock.time_of(period), sc_core::SC_EXIT_ON_STARVATION);
    if (run.stopped()) break;
    if (!sc_core::sc_pending_activity()) throw_deadlock(run, top, "nothing can happen any more");
    if (run.clock.now() - run.last_retirement >= period)
      throw_deadlock(run, top, fmt::format("no instruction has retired for {} cycles", period));
  }
  if (run.error) std::rethrow_exception(run.error);
}

}  // namespace

struct Chip::Impl {
  ChipConfig config;
  isa::MemoryImage& memory;
  isa::BindingTable& bindings;
  isa::TaskSource& source;
  ChipOptions options;
};

Chip::Chip(const ChipConfig& config, isa::MemoryImage& memory, isa::BindingTable& bindings,
           isa::TaskSource& source, ChipOptions options)
    : impl_(new Impl{config, memory, bindings, source, std::move(options)}) {}

Chip::~Chip() = default;

RunResult Chip::run(std::span<const isa::Launch> launches,
                    std::span<traces::Observer* const> observers) {
  const SystemContext context;
  const LaunchOrder order(launches);
  RunState run{.config = impl_->config,
               .memory = impl_->memory,
               .bindings = impl_->bindings,
               .source = impl_->source,
               .options = impl_->options,
               .launches = launches,
               .observers = observers,
               .clock = CoreClock(impl_->config.period()),
               .launch_order = order,
               .memory_order = MemoryOrder(order, impl_->memory, launches.size()),
               .timeline = {},
               .results = std::vector<LaunchResult>(launches.size()),
               .error = nullptr};
  Top top("chip", run);
  top.scheduler.begin();
  simulate(run, top);

  RunResult result;
  result.cycles = top.scheduler.end();
  for (auto& core : top.cores) core->close(result.cycles);
  top.scheduler.track().idle_until(result.cycles);
  top.scheduler.track().close();
  run.observe([&](traces::Observer& o) { o.end(result.cycles); });
  const MemoryTotals totals = top.memory->totals();
  result.hbm_read_bytes = totals.hbm_read_bytes;
  result.hbm_write_bytes = totals.hbm_write_bytes;
  result.row_hits = totals.row_hits;
  result.row_misses = totals.row_misses;
  result.conversions = run.conversions;
  for (auto& core : top.cores) result.workspace_bytes += core->workspace_bytes();
  result.launches = std::move(run.results);
  return result;
}

}  // namespace daybreak::sim
