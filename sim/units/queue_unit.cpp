#include "sim/units/queue_unit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/core/handshake.hpp"

namespace daybreak::sim {

QueueUnit::QueueUnit(const sc_core::sc_module_name& name, RunState& run, CoreState& core,
                     TaskKeeper& keeper, isa::Queue queue, Inside inside, int slots)
    : Module(name, run),
      core_(core),
      keeper_(keeper),
      track_(run, run.add_unit(core.number, path(), "chip.core." + std::string(isa::name_of(queue)),
                               slots)),
      queue_(queue),
      inside_(inside),
      starts_(size_t(run.config.core.control.queue_depth)),
      slot_free_(size_t(slots)) {
  core.units[int(queue)] = track_.unit();
}

void QueueUnit::begin_task() {
  pushed_ = started_ = 0;
  knowledge_ = {};
  control_known_ = 0;
}

void QueueUnit::end_task(Cycle end) { track_.until(end, traces::Cause::no_task, launch()); }

void QueueUnit::push(uint32_t index, Cycle arrival, Sequence control, Cycle descriptors) {
  fifo_.push_back({index, arrival, control, descriptors});
  ++pushed_;
  guarded([this] { advance(run_.clock.now()); });
}

Cycle QueueUnit::room_at() const {
  const uint64_t depth = starts_.size();
  if (pushed_ < depth) return 0;
  return pushed_ - depth < started_ ? starts_[pushed_ % depth] : kNever;
}

void QueueUnit::resume() {
  guarded([this] { advance(run_.clock.now()); });
}

std::optional<QueueUnit::Started> QueueUnit::decide(Cycle not_before, bool drained) {
  if (fifo_.empty()) return std::nullopt;
  const Queued q = fifo_.front();
  const isa::Entry& e = entry(q.entry);
  const bool alone = e.fence || std::holds_alternative<isa::Signal>(e.instruction);
  if (alone && !drained) return std::nullopt;
  Cycle start = std::max(not_before, q.arrival);
  if (!waits_ready(core_, e, this, start)) return std::nullopt;

  fifo_.pop_front();
  Started s;
  if (q.control > control_known_) {
    knowledge_.join(keeper_.control_knowledge(q.control));
    control_known_ = q.control;
  }
  s.waits_for = take_waits(core_, e, track_.unit(), start, knowledge_);
  const auto is = [&](isa::Queue of) { return s.waits_for == core_.units[int(of)]; };
  // A slot of converted weights waits for its user before; so does any other slot that is loaded.
  if (converted_slot(e.instruction) && (is(isa::Queue::matrix) || is(isa::Queue::dma_out)))
    s.cause = traces::Cause::workspace;
  else if (queue_ == isa::Queue::dma_in &&
           (is(isa::Queue::matrix) || is(isa::Queue::vector) || is(isa::Queue::sort)))
    s.cause = traces::Cause::ring_slot;
  starts_[started_ % starts_.size()] = start;
  const Sequence sequence = Sequence(++started_);
  if (inside_ == Inside::in_order || alone) knowledge_.seen[int(queue_)] = sequence - 1;
  s.flight.entry = q.entry;
  s.flight.sequence = sequence;
  s.flight.issued = q.arrival;
  s.flight.descriptors = q.descriptors;
  s.flight.started = start;
  s.flight.slot = take_slot(start);
  s.flight.knowledge = knowledge_;
  s.flight.work = isa::work_of(e.instruction);
  return s;
}

void QueueUnit::announce(uint32_t index) {
  announce_taken(core_, entry(index));
  keeper_.started(queue_);
}

bool QueueUnit::retire(InFlight& f, Cycle now) {
  const Cycle room = execute_and_signal(core_, f, queue_, now, this);
  if (room > now && room != kNever) wake_at(room);
  return room <= now;
}

void QueueUnit::retired(const InFlight& f, Cycle now) {
  slot_free_[size_t(f.slot)] = now;
  core_.retired(f, track_.unit(), now);
  keeper_.entry_retired(now);
}

int QueueUnit::take_slot(Cycle from) {
  for (size_t i = 0; i < slot_free_.size(); ++i) {
    if (slot_free_[i] > from) continue;
    slot_free_[i] = kNever;
    return int(i);
  }
  throw InvariantError("more instructions in flight than the unit has places");
}

void QueueUnit::account_start(const Started& s) {
  track_.until(std::min(s.flight.issued, s.flight.started), traces::Cause::issue_order, launch(),
               core_.units[int(isa::Queue::control)]);
  track_.until(s.flight.started, s.cause, launch(), s.waits_for);
}

std::string QueueUnit::name_of_entry(uint32_t index) const {
  return describe(core_.toucher(queue_, index, 0), entry(index).label);
}

std::string QueueUnit::waiting() const {
  std::string inside = waiting_inside();
  if (!inside.empty()) return inside;
  if (fifo_.empty()) return {};
  const std::string what = missing_waits(core_, entry(fifo_.front().entry));
  return name_of_entry(fifo_.front().entry) + " waits for " +
         (what.empty() ? "earlier instructions of its queue" : what);
}

}  // namespace daybreak::sim
