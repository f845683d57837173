// How an instruction takes its waits and gives its signals: the same for every queue of a core.
#pragma once
#include "sim/core/core_state.hpp"

namespace daybreak::sim {

// Raises `ready` to the cycle from which all waits of the entry can be taken. False when one is
// not known yet: then `waiter` is told when it may be.
bool waits_ready(CoreState&, const isa::Entry&, Waiter* waiter, Cycle& ready);

// Takes them for a start at `start`: `knowledge` learns what the signallers knew. Returns the unit
// whose signal came last, or traces::kNone.
int64_t take_waits(CoreState&, const isa::Entry&, int32_t unit, Cycle start, Knowledge& knowledge);

// Tells those whose signals had no room for the waits just taken.
void announce_taken(CoreState&, const isa::Entry&);

// Executes the instruction, once, and gives its signals. Returns `now` when all are given, else
// the cycle from which the next one has room (kNever: `waiter` is told).
Cycle execute_and_signal(CoreState&, InFlight&, isa::Queue, Cycle now, Waiter* waiter);

// What of an entry's waits is missing and who would give it; empty if nothing is.
std::string missing_waits(const CoreState&, const isa::Entry&);

}  // namespace daybreak::sim
