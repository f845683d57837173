#include "sim/units/compute_unit.hpp"

#include <algorithm>

namespace daybreak::sim {

ComputeUnit::ComputeUnit(const sc_core::sc_module_name& name, RunState& run, CoreState& core,
                         TaskKeeper& keeper, isa::Queue queue)
    : QueueUnit(name, run, core, keeper, queue, Inside::in_order, kPlaces) {}

void ComputeUnit::begin_task() {
  QueueUnit::begin_task();
  free_ = 0;
  blocked_ = false;
}

void ComputeUnit::step(Cycle now) {
  retire_due(now);
  advance(now);
}

void ComputeUnit::retire_due(Cycle now) {
  retiring_ = true;
  while (!flights_.empty() && flights_.front().retires <= now) {
    if (!retire(flights_.front(), now)) {
      blocked_ = true;
      break;
    }
    if (blocked_) {
      // A full semaphore held the unit; whatever started before it was held lasts as long as it
      // lasts.
      track_.until(now, traces::Cause::semaphore, launch());
      free_ = std::max(free_, now);
      blocked_ = false;
    }
    const InFlight done = std::move(flights_.front());
    flights_.pop_front();
    retired(done, now);
  }
  retiring_ = false;
}

void ComputeUnit::advance(Cycle now) {
  if (retiring_) return;
  if (blocked_) retire_due(now);
  if (blocked_) return;
  if (!flights_.empty()) {
    wake_at(std::max(now, flights_.front().retires));
    if (free_ > now) {
      wake_at(free_);
      return;
    }
    if (flights_.size() >= kPlaces) return;
  }
  if (auto started = decide(std::max(free_, now), flights_.empty())) begin(std::move(*started));
}

void ComputeUnit::begin(Started&& s) {
  InFlight& f = s.flight;
  const isa::Entry& e = entry(f.entry);
  core_.check_scratch(queue_, f.entry, f.sequence, f.knowledge.seen);
  const bool order_only = std::holds_alternative<isa::Signal>(e.instruction) ||
                          std::holds_alternative<isa::Wait>(e.instruction);
  const Cost c = order_only ? Cost{.busy = 1} : cost(e.instruction, f.work);
  account_start(s);
  track_.until(f.started + c.busy, traces::Cause::busy, launch());
  free_ = f.started + c.busy + c.stalled;
  track_.until(free_, traces::Cause::operand_bank, launch());
  f.parts = {.fixed = c.fixed, .streamed = c.busy - c.fixed, .stalled = c.stalled, .tail = c.tail};
  f.retires = free_ + c.tail;
  if (!flights_.empty()) f.retires = std::max(f.retires, flights_.back().retires);
  wake_at(std::min(free_, flights_.empty() ? f.retires : flights_.front().retires));
  const uint32_t index = f.entry;
  flights_.push_back(std::move(f));
  announce(index);
}

std::string ComputeUnit::waiting_inside() const {
  if (!blocked_ || flights_.empty()) return {};
  const InFlight& f = flights_.front();
  return name_of_entry(f.entry) + " waits to signal semaphore " +
         std::to_string(entry(f.entry).signals[f.signals_given].value) +
         ", which is at its maximum and which nothing takes";
}

}  // namespace daybreak::sim
