#include "sim/units/scheduler.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace daybreak::sim {

Scheduler::Scheduler(const sc_core::sc_module_name& name, RunState& run,
                     const MemoryBackend& memory)
    : Module(name, run),
      memory_(memory),
      track_(run, run.add_unit(-1, path(), "chip.scheduler", 1)),
      launch_latency_(run.clock.cycles_of_us(run.config.scheduler.launch_us)),
      cold_(run.clock.cycles_of_us(run.config.scheduler.dispatch_cold_us)),
      warm_(run.clock.cycles_of_us(run.config.scheduler.dispatch_warm_us)),
      acknowledge_(run.clock.cycles_of_us(run.config.scheduler.acknowledge_us)),
      poll_(run.clock.cycles_of_us(run.config.scheduler.poll_us)),
      launches_(run.launches.size()) {}

void Scheduler::set_cores(std::vector<Core*> cores) {
  cores_ = std::move(cores);
  use_.assign(cores_.size(), {});
}

void Scheduler::begin() {
  guarded([this] { take_up(); });
}

void Scheduler::take_up() {
  const int64_t streams = run_.config.scheduler.streams;
  for (uint32_t l = 0; l < launches_.size(); ++l) {
    const isa::Launch& launch = run_.launches[l];
    if (int64_t(launch.stream) >= streams)
      throw InvariantError(fmt::format("launch {} ({}) names stream {}, the chip has {}", l,
                                       launch.kernel, launch.stream, streams));
    const size_t most =
        launch.cores ? std::min<size_t>(launch.cores, cores_.size()) : cores_.size();
    if (launch.gang == 0 || launch.gang > most)
      throw InvariantError(fmt::format("launch {} ({}) needs {} cores at once, it may have 1 to {}",
                                       l, launch.kernel, launch.gang, most));
    launches_[l].needs = run_.launch_order.needs(l).size();
    run_.results[l].kernel = launch.kernel;
  }
  for (uint32_t l = 0; l < launches_.size(); ++l)
    if (launches_[l].needs == 0) make_ready(l, 0);
  tell_idle(0);
  if (launches_.empty())
    run_.finish();
  else
    wake_at(0);
}

uint32_t Scheduler::task_count(uint32_t l) const {
  const isa::Launch& launch = run_.launches[l];
  if (launch.grid.empty()) return launch.tasks;
  const std::vector<isa::TensorDesc> tensors{launch.grid_tensor};
  isa::Scratch none({});
  const isa::Context context{none, run_.memory, tensors, run_.bindings};
  const isa::TensorRef count{.tensor = 0, .row = launch.grid.row, .col = launch.grid.col};
  context.require_real(count);
  const Address at = context.address(count);
  const Toucher by{.launch = l, .name = "grid"};
  if (run_.options.check_order) run_.memory_order.look(at, 4, by);
  const int32_t tasks = run_.memory.get<int32_t>(at);
  if (tasks < 0)
    throw InvariantError(fmt::format("launch {} ({}) reads a grid of {} tasks from {}", l,
                                     launch.kernel, tasks, run_.memory.name_of(at)));
  return uint32_t(tasks);
}

void Scheduler::make_ready(uint32_t l, Cycle now) {
  LaunchState& s = launches_[l];
  s.phase = Phase::ready;
  s.tasks = task_count(l);
  s.first_dispatch = now + launch_latency_;
  s.warm.assign(cores_.size(), false);
  s.counters = std::make_unique<Counters>(run_.launches[l].shared_semaphores,
                                          run_.config.scheduler.core_semaphore_latency);
  run_.results[l].ready = now;
  run_.results[l].tasks = s.tasks;
  const auto before = [&](uint32_t a, uint32_t b) {
    const uint32_t pa = run_.launches[a].priority, pb = run_.launches[b].priority;
    return pa != pb ? pa > pb : a < b;
  };
  open_.insert(std::upper_bound(open_.begin(), open_.end(), l, before), l);
}

void Scheduler::step(Cycle now) {
  bool moved = true;
  while (moved && !run_.stopped()) {
    moved = finish_jobs(now);
    for (size_t i = 0; i < open_.size(); ++i) {
      const uint32_t l = open_[i];
      LaunchState& s = launches_[l];
      if (s.phase != Phase::ready || s.first_dispatch > now) continue;
      s.phase = Phase::dispatching;
      s.at_start = memory_.totals();
      run_.results[l].started = now;
      moved = true;
      if (s.tasks > 0) continue;
      end_launch(l, now);  // changes open_
      break;
    }
    while (start_job(now)) moved = moved || poll_ == 0;
  }
  tell_idle(now);
  plan_wake(now);
}

bool Scheduler::finish_jobs(Cycle now) {
  bool any = false;
  for (size_t i = 0; i < jobs_.size();) {
    if (jobs_[i].until > now) {
      ++i;
      continue;
    }
    const Job job = jobs_[i];
    jobs_.erase(jobs_.begin() + long(i));
    any = true;
    if (job.dispatch)
      dispatch(job, now);
    else
      acknowledge(job, now);
  }
  return any;
}

bool Scheduler::start_job(Cycle now) {
  if (int64_t(jobs_.size()) >= run_.config.scheduler.threads) return false;
  return start_acknowledge(now) || start_dispatch(now);
}

bool Scheduler::start_acknowledge(Cycle now) {
  if (acks_.empty() || acks_.front().known > now) return false;
  occupy(now, {.from = now,
               .until = now + poll_,
               .dispatch = false,
               .core = acks_.front().core,
               .launch = 0,
               .task = 0,
               .count = 1});
  acks_.pop_front();
  return true;
}

bool Scheduler::start_dispatch(Cycle now) {
  for (uint32_t l : open_) {
    LaunchState& s = launches_[l];
    if (s.phase != Phase::dispatching) continue;
    const uint32_t count = std::min(run_.launches[l].gang, s.tasks - s.dispatched);
    const int first = free_run(s, run_.launches[l], count);
    if (first < 0) continue;
    for (uint32_t i = 0; i < count; ++i) use_[size_t(first) + i] = {.free = false, .launch = l};
    occupy(now, {.from = now,
                 .until = now + poll_ * Cycle(count),
                 .dispatch = true,
                 .core = first,
                 .launch = l,
                 .task = s.dispatched,
                 .count = count});
    s.dispatched += count;
    s.occupied += count;
    if (s.dispatched == s.tasks) s.phase = Phase::running;
    return true;
  }
  return false;
}

// Lowest core from which `count` neighbours are free, or -1.
int Scheduler::free_run(const LaunchState& s, const isa::Launch& launch, uint32_t count) const {
  if (launch.cores && s.occupied + count > launch.cores) return -1;
  uint32_t run = 0;
  for (size_t c = 0; c < use_.size(); ++c) {
    run = use_[c].free ? run + 1 : 0;
    if (run == count) return int(c + 1 - count);
  }
  return -1;
}

void Scheduler::occupy(Cycle now, Job job) {
  if (job.until > track_.cursor()) {
    track_.idle_until(now);
    track_.until(job.until, traces::Cause::busy,
                 job.dispatch ? job.launch : use_[size_t(job.core)].launch);
  }
  const traces::JobEvent event{.dispatch = job.dispatch,
                               .launch = job.dispatch ? job.launch : use_[size_t(job.core)].launch,
                               .task = job.task,
                               .count = job.count,
                               .core = job.core,
                               .from = job.from,
                               .until = job.until};
  run_.observe([&](traces::Observer& o) { o.job(event); });
  jobs_.push_back(job);
}

void Scheduler::dispatch(const Job& job, Cycle now) {
  LaunchState& s = launches_[job.launch];
  Cycle start = now;
  for (uint32_t i = 0; i < job.count; ++i) {
    const size_t c = size_t(job.core) + i;
    start = std::max(start, now + (s.warm[c] ? warm_ : cold_));
    s.warm[c] = true;
  }
  for (uint32_t i = 0; i < job.count && !run_.stopped(); ++i) {
    Task task{.launch = job.launch,
              .number = job.task + i,
              .program = {},
              .counters = s.counters.get(),
              .chosen = job.from,
              .dispatched = now,
              .start = start};
    task.program = run_.source.program(job.launch, task.number, run_.memory);
    cores_[size_t(job.core) + i]->begin(std::move(task));
  }
}

void Scheduler::task_ended(int core, Cycle end) {
  use_[size_t(core)].ended = end;
  const Acknowledge ack{.known = end + acknowledge_, .core = core};
  const auto later = [](const Acknowledge& a, const Acknowledge& b) { return a.known < b.known; };
  acks_.insert(std::upper_bound(acks_.begin(), acks_.end(), ack, later), ack);
  wake_at(std::max(ack.known, run_.clock.now()));
}

void Scheduler::acknowledge(const Job& job, Cycle now) {
  CoreUse& use = use_[size_t(job.core)];
  use.free = true;
  LaunchState& s = launches_[use.launch];
  ++s.acknowledged;
  --s.occupied;
  if (s.acknowledged == s.tasks) end_launch(use.launch, now);
}

void Scheduler::end_launch(uint32_t l, Cycle now) {
  LaunchState& s = launches_[l];
  s.phase = Phase::ended;
  open_.erase(std::find(open_.begin(), open_.end(), l));
  end_ = std::max(end_, now);
  LaunchResult& r = run_.results[l];
  r.ended = now;
  const MemoryTotals totals = memory_.totals();
  r.hbm_read_bytes = totals.hbm_read_bytes - s.at_start.hbm_read_bytes;
  r.hbm_write_bytes = totals.hbm_write_bytes - s.at_start.hbm_write_bytes;
  r.row_hits = totals.row_hits - s.at_start.row_hits;
  r.row_misses = totals.row_misses - s.at_start.row_misses;
  r.row_conflicts = totals.row_conflicts - s.at_start.row_conflicts;
  run_.memory_order.launch_ended(l);
  const traces::LaunchEvent event{.launch = l,
                                  .kernel = r.kernel,
                                  .ready = r.ready,
                                  .started = r.started,
                                  .ended = r.ended,
                                  .tasks = r.tasks,
                                  .after = run_.launch_order.needs(l)};
  run_.observe([&](traces::Observer& o) { o.launch(event); });
  if (++ended_ == launches_.size()) {
    run_.finish();
    return;
  }
  for (uint32_t next = 0; next < launches_.size(); ++next) {
    if (launches_[next].phase != Phase::blocked) continue;
    const auto& needs = run_.launch_order.needs(next);
    launches_[next].needs -= size_t(std::count(needs.begin(), needs.end(), l));
    if (launches_[next].needs == 0) make_ready(next, now);
  }
}

// What a core without a task is doing from now on: waiting for a dispatch if a launch has tasks
// left, else it has none; before the first dispatch of everything, the launch latency.
void Scheduler::tell_idle(Cycle now) {
  for (uint32_t l : open_)
    if (launches_[l].phase == Phase::dispatching) {
      run_.timeline.change(now, traces::Cause::launch, l);
      return;
    }
  for (uint32_t l : open_)
    if (launches_[l].phase == Phase::running) {
      run_.timeline.change(now, traces::Cause::no_task, l);
      return;
    }
  if (open_.empty())
    run_.timeline.change(now, traces::Cause::no_task, traces::kNone);
  else
    run_.timeline.change(now, traces::Cause::launch, open_.front());
}

void Scheduler::plan_wake(Cycle now) {
  if (run_.stopped()) return;
  Cycle next = kNever;
  for (const Job& j : jobs_) next = std::min(next, j.until);
  if (!acks_.empty() && acks_.front().known > now) next = std::min(next, acks_.front().known);
  for (uint32_t l : open_)
    if (launches_[l].phase == Phase::ready) next = std::min(next, launches_[l].first_dispatch);
  if (next != kNever) wake_at(std::max(next, now));
}

std::string Scheduler::waiting() const {
  std::string out;
  for (uint32_t l = 0; l < launches_.size(); ++l) {
    const LaunchState& s = launches_[l];
    if (s.phase == Phase::ended) continue;
    const std::string& kernel = run_.launches[l].kernel;
    if (s.phase == Phase::blocked)
      out += fmt::format("\n  launch {} ({}): waits for launches before it", l, kernel);
    else
      out += fmt::format("\n  launch {} ({}): {} of {} tasks dispatched, {} acknowledged", l,
                         kernel, s.dispatched, s.tasks, s.acknowledged);
  }
  return out;
}

}  // namespace daybreak::sim
