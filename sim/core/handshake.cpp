#include "sim/core/handshake.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace daybreak::sim {

bool waits_ready(CoreState& core, const isa::Entry& e, Waiter* waiter, Cycle& ready) {
  for (size_t i = 0; i < e.waits.size(); ++i) {
    const uint8_t s = e.waits[i].value;
    const size_t skip = size_t(std::count(e.waits.begin(), e.waits.begin() + long(i), e.waits[i]));
    const Cycle at = core.semaphores.token_at(s, skip);
    if (at == kNever) {
      core.semaphores.token_waiters(s).add(waiter);
      return false;
    }
    ready = std::max(ready, at);
  }
  if (const auto* w = std::get_if<isa::Wait>(&e.instruction)) {
    const Cycle at = core.task.counters->reached_at(size_t(w->semaphore), w->count);
    if (at == kNever) {
      core.task.counters->waiters(size_t(w->semaphore)).add(waiter);
      return false;
    }
    ready = std::max(ready, at);
  }
  return true;
}

int64_t take_waits(CoreState& core, const isa::Entry& e, int32_t unit, Cycle start,
                   Knowledge& knowledge) {
  Cycle last = -1;
  int64_t who = traces::kNone;
  const auto from = [&](int32_t signaller, Cycle given) {
    core.flow(signaller, given, unit, start);
    if (given <= last) return;
    last = given;
    who = signaller;
  };
  for (isa::SemaphoreId id : e.waits) {
    const Semaphores::Token token = core.semaphores.take(id.value, start);
    knowledge.join(token.knowledge);
    from(token.unit, token.given);
  }
  if (const auto* w = std::get_if<isa::Wait>(&e.instruction)) {
    const auto learned = core.task.counters->learn(size_t(w->semaphore), w->count, start);
    if (learned.facts) knowledge.foreign = join(knowledge.foreign, learned.facts);
    from(learned.unit, learned.given);
  }
  return who;
}

void announce_taken(CoreState& core, const isa::Entry& e) {
  for (isa::SemaphoreId id : e.waits) core.semaphores.room_waiters(id.value).resume_all();
}

Cycle execute_and_signal(CoreState& core, InFlight& f, isa::Queue queue, Cycle now,
                         Waiter* waiter) {
  const isa::Entry& e = core.entry(f.entry);
  const int32_t unit = core.units[int(queue)];
  if (!f.executed) {
    f.executed = true;
    core.execute(f.entry);
    f.knowledge.seen[int(queue)] = f.sequence;
    if (const auto* s = std::get_if<isa::Signal>(&e.instruction)) {
      const auto own =
          std::make_shared<const Foreign>(Foreign{{core.task.number, f.knowledge.seen}});
      Counters& counters = *core.task.counters;
      counters.signal(size_t(s->semaphore), now, unit, join(f.knowledge.foreign, own));
      counters.waiters(size_t(s->semaphore)).resume_all();
    }
  }
  while (f.signals_given < e.signals.size()) {
    const uint8_t s = e.signals[f.signals_given].value;
    const Cycle room = core.semaphores.room_at(s);
    if (room == kNever) core.semaphores.room_waiters(s).add(waiter);
    if (room > now) return room;
    ++f.signals_given;
    core.semaphores.give(s, {.given = now, .unit = unit, .knowledge = f.knowledge});
    core.semaphores.token_waiters(s).resume_all();
  }
  return now;
}

namespace {

// The k-th signal of a semaphore, in program order, gives the k-th token.
std::string signaller(const CoreState& core, isa::SemaphoreId id) {
  uint64_t before = core.semaphores.gives(id.value);
  for (uint32_t i = 0; i < core.task.program.code.size(); ++i) {
    const auto& signals = core.entry(i).signals;
    const uint64_t here = uint64_t(std::count(signals.begin(), signals.end(), id));
    if (before < here)
      return fmt::format("which {} would signal",
                         describe(core.toucher(isa::queue_of(core.entry(i).instruction), i, 0),
                                  core.entry(i).label));
    before -= here;
  }
  return "which nothing signals";
}

}  // namespace

std::string missing_waits(const CoreState& core, const isa::Entry& e) {
  std::string out;
  for (isa::SemaphoreId id : e.waits)
    if (core.semaphores.token_at(id.value, 0) == kNever)
      out += fmt::format("{}semaphore {}, {}", out.empty() ? "" : " and ", id.value,
                         signaller(core, id));
  if (const auto* w = std::get_if<isa::Wait>(&e.instruction)) {
    const int64_t value = core.task.counters->value(size_t(w->semaphore));
    if (value < w->count)
      out += fmt::format("{}shared counter {} to reach {}, it is {}", out.empty() ? "" : " and ",
                         w->semaphore, w->count, value);
  }
  return out;
}

}  // namespace daybreak::sim
