#include "sim/units/control.hpp"

#include <algorithm>

#include "sim/core/handshake.hpp"

namespace daybreak::sim {

Control::Control(const sc_core::sc_module_name& name, RunState& run, CoreState& core,
                 TaskKeeper& keeper, const std::array<QueueUnit*, isa::kQueues>& queues)
    : Module(name, run),
      core_(core),
      keeper_(keeper),
      track_(run, run.add_unit(core.number, path(), "chip.core.control", 1)),
      queues_(queues) {
  core.units[int(isa::Queue::control)] = track_.unit();
}

void Control::begin_task(Cycle start) {
  next_ = 0;
  time_ = start;
  full_ = isa::Queue::control;
  running_ = false;
  history_.assign(1, {});
  resume();
}

void Control::resume() {
  guarded([this] { advance(run_.clock.now()); });
}

void Control::advance(Cycle now) {
  if (active_) return;
  active_ = true;
  const auto more = [&] { return next_ < core_.task.program.code.size() && !run_.stopped(); };
  if (!running_ || (flight_.retires <= now && finish(now)))
    while (!running_ && more() && issue_next()) {}
  active_ = false;
}

bool Control::issue_next() {
  const isa::Entry& e = core_.entry(next_);
  const isa::Queue q = isa::queue_of(e.instruction);
  if (q == isa::Queue::control) return run_here(e);
  const Cycle room = queues_[int(q)]->room_at();
  full_ = room == kNever ? q : isa::Queue::control;
  if (room == kNever) return false;
  const int64_t launch = core_.task.launch;
  Cycle descriptors = 0;
  if (const auto* g = std::get_if<isa::Gather>(&e.instruction); g && g->software) {
    descriptors = run_.config.core.control.scalar_load +
                  run_.config.core.dma.descriptor_issue * isa::work_of(e.instruction).scalar_loads;
    time_ += descriptors;
    track_.until(time_, traces::Cause::busy, launch);
  }
  const Cycle at = std::max(time_, room);
  track_.until(at, traces::Cause::fifo_full, launch, core_.units[int(q)]);
  time_ = at + run_.config.core.control.issue_cycles;
  track_.until(time_, traces::Cause::busy, launch);
  const uint32_t index = next_++;
  queues_[int(q)]->push(index, time_, Sequence(history_.size() - 1), descriptors);
  return true;
}

Cycle Control::cost(const isa::Work& w) const {
  const ControlConfig& c = run_.config.core.control;
  return std::max(c.issue_cycles, w.scalar_loads * c.scalar_load + w.scalar_ops);
}

// Starts an instruction of the processor itself. Values are computed when it ends, so issue goes
// on from a wake at that cycle; without effects on others it goes on at once.
bool Control::run_here(const isa::Entry& e) {
  Cycle start = time_;
  if (!waits_ready(core_, e, this, start)) return false;
  Knowledge known = history_.back();
  const int64_t from = take_waits(core_, e, track_.unit(), start, known);
  flight_ = {};
  flight_.entry = next_;
  flight_.sequence = Sequence(history_.size());
  flight_.issued = time_;
  flight_.started = start;
  flight_.work = isa::work_of(e.instruction);
  flight_.retires = start + cost(flight_.work);
  flight_.knowledge = std::move(known);
  flight_.knowledge.seen[int(isa::Queue::control)] = flight_.sequence - 1;
  check_order(flight_);
  const int64_t launch = core_.task.launch;
  track_.until(start, traces::Cause::semaphore, launch, from);
  track_.until(flight_.retires, traces::Cause::busy, launch);
  running_ = true;
  const bool scalar = std::holds_alternative<isa::ScalarWork>(e.instruction) ||
                      std::holds_alternative<isa::ScalarLoad>(e.instruction);
  if (scalar && e.signals.empty() && e.waits.empty()) return finish(flight_.retires);
  wake_at(flight_.retires);
  announce_taken(core_, e);
  return false;
}

void Control::check_order(const InFlight& f) {
  core_.check_scratch(isa::Queue::control, f.entry, f.sequence, f.knowledge.seen);
  if (!run_.options.check_order) return;
  const Toucher by = core_.toucher(isa::Queue::control, f.entry, f.sequence);
  const isa::Context context = core_.context();
  isa::for_each_segment(core_.entry(f.entry).instruction, context, [&](const isa::Segment& s) {
    core_.check_memory(by, f.knowledge, s.address, s.bytes.value, s.write);
  });
  core_.check_hidden_reads(isa::Queue::control, f.entry, f.sequence, f.knowledge);
}

// Ends the own instruction; false while a signal has no room.
bool Control::finish(Cycle now) {
  const Cycle room = execute_and_signal(core_, flight_, isa::Queue::control, now, this);
  if (room > now) {
    if (room != kNever) wake_at(room);
    return false;
  }
  track_.until(now, traces::Cause::semaphore, core_.task.launch);
  history_.push_back(flight_.knowledge);
  time_ = now;
  running_ = false;
  ++next_;
  core_.retired(flight_, track_.unit(), now);
  keeper_.entry_retired(now);
  return true;
}

void Control::step(Cycle now) { advance(now); }

std::string Control::waiting() const {
  if (next_ >= core_.task.program.code.size()) return {};
  const isa::Entry& e = core_.entry(next_);
  const isa::Queue q = isa::queue_of(e.instruction);
  const std::string who = describe(core_.toucher(q, next_, 0), e.label);
  if (q != isa::Queue::control)
    return who + " is not issued: the FIFO of " + std::string(isa::name_of(q)) + " is full";
  if (running_) return {};
  return who + " holds issue and waits for " + missing_waits(core_, e);
}

}  // namespace daybreak::sim
