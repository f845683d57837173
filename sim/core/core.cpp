#include "sim/core/core.hpp"

#include <fmt/format.h>

namespace daybreak::sim {

Core::Core(const sc_core::sc_module_name& name, RunState& run, int number, MemoryPort& port,
           TaskSink& sink)
    : sc_core::sc_module(name),
      run_(run),
      state_(run, number),
      sink_(sink),
      engine_{.port = port,
              .limit = run.config.core.dma.outstanding,
              .tlb = Tlb(run.config.core.dma.tlb),
              .lookups = {.requests = {},
                          .scales = ScaleCache(run.config.core.dma.scale_cache_kb * 1024,
                                               run.config.l2.sector)}},
      dma_in_("dma_in", run, state_, *this, isa::Queue::dma_in, engine_),
      dma_out_("dma_out", run, state_, *this, isa::Queue::dma_out, engine_),
      matrix_("matrix", run, state_, *this),
      vector_("vector", run, state_, *this),
      sort_("sort", run, state_, *this),
      queues_{nullptr, &dma_in_, &dma_out_, &matrix_, &vector_, &sort_},
      control_("control", run, state_, *this, queues_) {}

void Core::begin(Task&& task) {
  each_track([&](Track& t) {
    t.idle_until(task.chosen);
    t.until(task.start, traces::Cause::launch, task.launch);
  });
  last_ = task.start;
  state_.begin_task(std::move(task));
  for (QueueUnit* u : queues_)
    if (u) u->begin_task();
  control_.begin_task(state_.task.start);
  if (state_.task.program.code.empty()) entry_retired(last_);
}

void Core::entry_retired(Cycle at) {
  last_ = std::max(last_, at);
  if (state_.remaining > 0 || !state_.busy) return;
  state_.busy = false;
  for (QueueUnit* u : queues_)
    if (u) u->end_task(last_);
  control_.end_task(last_);
  const Task& t = state_.task;
  const traces::TaskEvent event{.core = state_.number,
                                .launch = t.launch,
                                .task = t.number,
                                .dispatched = t.dispatched,
                                .started = t.start,
                                .ended = last_};
  run_.observe([&](traces::Observer& o) { o.task(event); });
  sink_.task_ended(state_.number, last_);
}

void Core::close(Cycle end) {
  each_track([&](Track& t) {
    t.idle_until(end);
    t.close();
  });
}

std::string Core::waiting() const {
  if (!state_.busy) return {};
  std::string out;
  const auto add = [&](const std::string& path, const std::string& what) {
    if (!what.empty()) out += fmt::format("\n  {}: {}", path, what);
  };
  add(control_.path(), control_.waiting());
  for (const QueueUnit* u : queues_)
    if (u) add(u->path(), u->waiting());
  return out;
}

}  // namespace daybreak::sim
