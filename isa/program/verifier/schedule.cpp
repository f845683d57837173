#include "isa/program/verifier/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace daybreak::isa::verifier {

namespace {

void join(Clock& to, const Clock& from) {
  for (int q = 0; q < kQueues; ++q) to[q] = std::max(to[q], from[q]);
}

struct QueueState {
  std::vector<int32_t> entries;  // issued so far, in order
  size_t started = 0, retired = 0;
  size_t given = 0;  // signals of the entry that retires next
  Clock last_start{}, last_end{};
  std::array<int32_t, 256> taken{};  // waits of this queue, by semaphore
};

struct SemaphoreState {
  int64_t count = 0;
  std::array<std::vector<Clock>, kQueues> signals;  // clocks of the signals given, by queue
  std::array<int32_t, kQueues> total{};             // signals in the whole program, by queue
};

class Runner {
 public:
  Runner(const TaskProgram& p, const Capabilities& c) : program_(p), capabilities_(c) {
    out_.at_start.resize(p.code.size());
    out_.position.resize(p.code.size());
    for (const Entry& e : p.code)
      for (SemaphoreId s : e.signals) ++semaphores_[s.value].total[int(queue_of(e.instruction))];
  }

  Schedule run() {
    for (bool moved = true; moved;) {
      moved = issue();
      for (int q = 0; q < kQueues; ++q) moved |= advance(Queue(q));
    }
    if (out_.started.size() < program_.code.size()) report_issue();
    for (int q = 0; q < kQueues; ++q) report(Queue(q));
    return std::move(out_);
  }

 private:
  const Entry& entry(int32_t i) const { return program_.code[size_t(i)]; }

  bool issue() {
    bool moved = false;
    while (next_ < program_.code.size()) {
      const Queue q = queue_of(entry(int32_t(next_)).instruction);
      QueueState& state = queues_[int(q)];
      // A control entry holds issue until it has retired.
      const QueueState& control = queues_[int(Queue::control)];
      if (control.retired < control.entries.size()) break;
      const int64_t waiting = int64_t(state.entries.size() - state.started);
      if (capabilities_.queue_depth > 0 && waiting >= capabilities_.queue_depth) break;
      out_.position[next_] = int32_t(state.entries.size());
      out_.at_start[next_] = control.last_end;
      state.entries.push_back(int32_t(next_++));
      moved = true;
      if (q == Queue::control) advance(q);
    }
    return moved;
  }

  // Starts and retires what can be.
  bool advance(Queue q) {
    QueueState& state = queues_[int(q)];
    bool moved = false;
    for (bool again = true; again; moved |= again)
      again = start_next(q, state) || retire_next(q, state);
    return moved;
  }

  bool start_next(Queue q, QueueState& state) {
    if (state.started == state.entries.size()) return false;
    const int32_t i = state.entries[state.started];
    const Entry& e = entry(i);
    const bool alone = !overlaps_entries(q) || e.fence;
    if (alone && state.retired < state.started) return false;
    for (SemaphoreId s : e.waits) {
      const auto needed = std::count(e.waits.begin(), e.waits.end(), s);
      if (semaphores_[s.value].count < needed) return false;
    }
    Clock& clock = out_.at_start[size_t(i)];
    join(clock, alone ? state.last_end : state.last_start);
    for (SemaphoreId s : e.waits) {
      --semaphores_[s.value].count;
      take(semaphores_[s.value], ++state.taken[s.value], clock);
    }
    state.last_start = clock;
    ++state.started;
    out_.started.push_back(i);
    return true;
  }

  // What a queue's `taken`-th wait proves: of each signalling queue, the signals that must be among the
  // first `taken` whatever the others did.
  static void take(const SemaphoreState& s, int32_t taken, Clock& clock) {
    int32_t all = 0;
    for (int32_t t : s.total) all += t;
    for (int q = 0; q < kQueues; ++q) {
      const int32_t sure = taken - (all - s.total[q]);
      if (sure >= 1 && size_t(sure) <= s.signals[q].size())
        join(clock, s.signals[q][size_t(sure) - 1]);
    }
  }

  bool retire_next(Queue q, QueueState& state) {
    if (state.retired == state.started) return false;
    const int32_t i = state.entries[state.retired];
    const Entry& e = entry(i);
    Clock end = out_.at_start[size_t(i)];
    join(end, state.last_end);
    end[int(q)] = int32_t(state.retired) + 1;
    const size_t before = state.given;
    for (; state.given < e.signals.size(); ++state.given) {
      SemaphoreState& s = semaphores_[e.signals[state.given].value];
      if (s.count >= capabilities_.semaphore_max) return state.given > before;
      ++s.count;
      s.signals[int(q)].push_back(end);
    }
    state.given = 0;
    state.last_end = end;
    ++state.retired;
    return true;
  }

  // ---- reports -------------------------------------------------------------------------------

  // The first entry that has not given its signal (or taken its wait) of a semaphore, other than `but`.
  int64_t pending(uint8_t semaphore, bool signal, int32_t but) const {
    for (size_t i = 0; i < program_.code.size(); ++i) {
      if (int32_t(i) == but) continue;
      const Entry& e = program_.code[i];
      const auto& list = signal ? e.signals : e.waits;
      if (std::find(list.begin(), list.end(), SemaphoreId{semaphore}) == list.end()) continue;
      const QueueState& state = queues_[int(queue_of(e.instruction))];
      const size_t done = signal ? state.retired : state.started;
      if (i >= next_ || size_t(out_.position[i]) >= done) return int64_t(i);
    }
    return -1;
  }

  void add(std::string message, int64_t first, int64_t second) {
    out_.deadlocks.push_back({Finding::Kind::deadlock, std::move(message), first, second});
  }

  void report(Queue q) {
    const QueueState& state = queues_[int(q)];
    if (state.retired < state.started) {
      const int32_t i = state.entries[state.retired];
      const uint8_t s = entry(i).signals[state.given].value;
      const int64_t other = pending(s, false, i);
      add(fmt::format("{} cannot signal semaphore s{}, which is at its maximum of {}; {}",
                      describe(program_, i), s, capabilities_.semaphore_max,
                      other < 0 ? "nobody waits for it any more"
                                : "next to take one is " + describe(program_, other)),
          i, other);
    }
    if (state.started == state.entries.size()) return;
    const int32_t i = state.entries[state.started];
    for (SemaphoreId s : entry(i).waits) {
      if (semaphores_[s.value].count >= std::count(entry(i).waits.begin(), entry(i).waits.end(), s))
        continue;
      const int64_t other = pending(s.value, true, i);
      add(fmt::format("{} waits for semaphore s{}; {}", describe(program_, i), s.value,
                      other < 0 ? "nobody signals it any more"
                                : "its next signal is that of " + describe(program_, other) +
                                      ", which is stuck itself"),
          i, other);
      return;
    }
  }

  void report_issue() {
    if (next_ == program_.code.size()) return;
    const Queue q = queue_of(entry(int32_t(next_)).instruction);
    const QueueState& state = queues_[int(q)];
    const QueueState& control = queues_[int(Queue::control)];
    if (control.retired < control.entries.size()) return;  // that entry's own report says why
    add(fmt::format("{} cannot be issued: the queue {} is full behind {}",
                    describe(program_, int64_t(next_)), name_of(q),
                    describe(program_, state.entries[state.started])),
        int64_t(next_), state.entries[state.started]);
  }

  const TaskProgram& program_;
  const Capabilities& capabilities_;
  Schedule out_;
  std::array<QueueState, kQueues> queues_;
  std::array<SemaphoreState, 256> semaphores_;
  size_t next_ = 0;
};

}  // namespace

Schedule run(const TaskProgram& program, const Capabilities& capabilities) {
  return Runner(program, capabilities).run();
}

}  // namespace daybreak::isa::verifier
