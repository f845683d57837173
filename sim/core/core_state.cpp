#include "sim/core/core_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

namespace daybreak::sim {
namespace {

std::array<Bytes, isa::kSpaces> scratch_sizes(const ScratchConfig& c) {
  return {Bytes(c.operand_kb * 1024), Bytes(c.vector_kb * 1024), Bytes(c.accumulator_kb * 1024)};
}

}  // namespace

CoreState::CoreState(RunState& r, int n)
    : run(r),
      number(n),
      scratch(scratch_sizes(r.config.core.scratch)),
      semaphores(r.config.core.control.semaphore_max, r.config.core.control.semaphore_latency) {}

void CoreState::begin_task(Task&& t) {
  task = std::move(t);
  check_task();
  semaphores.begin_task(task.program.semaphores);
  order.begin_task();
  for (auto& list : queue_entries) list.clear();
  for (uint32_t i = 0; i < task.program.code.size(); ++i)
    queue_entries[int(isa::queue_of(task.program.code[i].instruction))].push_back(i);
  workspace.add(task.program, run.options.workspace);
  remaining = task.program.code.size();
  busy = true;
}

void CoreState::check_task() const {
  const isa::TaskProgram& p = task.program;
  const auto fail = [&](const std::string& what) {
    throw InvariantError(
        fmt::format("task {} of launch {} ({}) {}", task.number, task.launch, p.kernel, what));
  };
  if (int64_t(p.semaphores) > run.config.core.control.semaphores)
    fail(fmt::format("uses {} semaphores, a core has {}", p.semaphores,
                     run.config.core.control.semaphores));
  for (int s = 0; s < isa::kSpaces; ++s) {
    const int64_t have = int64_t(scratch.bytes(isa::Space(s)).size());
    if (p.scratch[s].value > have)
      fail(fmt::format("needs {} B of {} scratchpad, a core has {}", p.scratch[s].value,
                       isa::name_of(isa::Space(s)), have));
  }
  for (uint32_t i = 0; i < p.code.size(); ++i) {
    const isa::Entry& e = p.code[i];
    for (const auto* list : {&e.waits, &e.signals})
      for (isa::SemaphoreId s : *list)
        if (s.value >= p.semaphores)
          fail(fmt::format("names semaphore {} in entry {}, it has {}", s.value, i, p.semaphores));
    const auto counter = [&](int32_t c) {
      if (c < 0 || size_t(c) >= (task.counters ? task.counters->size() : 0))
        fail(fmt::format("names shared counter {} in entry {}, the launch has {}", c, i,
                         task.counters ? task.counters->size() : 0));
    };
    if (const auto* s = std::get_if<isa::Signal>(&e.instruction)) counter(s->semaphore);
    if (const auto* w = std::get_if<isa::Wait>(&e.instruction)) counter(w->semaphore);
  }
}

isa::Context CoreState::context() {
  return {scratch, run.memory, task.program.tensors, run.bindings, &run.conversions};
}

const Toucher CoreState::toucher(isa::Queue queue, uint32_t index, Sequence sequence) const {
  return {task.launch, task.number, index, queue, sequence, isa::name_of(entry(index).instruction)};
}

void CoreState::check_scratch(isa::Queue queue, uint32_t index, Sequence sequence,
                              const Sequences& seen) {
  if (!run.options.check_order) return;
  const auto tiles = [&](auto&& f) {
    std::visit(
        [&](const auto& instruction) {
          isa::for_each_operand(instruction, [&](const auto& operand, isa::Access access, bool) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(operand)>, isa::TileRef>)
              f(operand, access);
          });
        },
        entry(index).instruction);
  };
  tiles([&](const isa::TileRef& tile, isa::Access access) {
    const auto conflict = order.check(tile, isa::writes(access), seen);
    if (!conflict.found) return;
    const uint32_t other = queue_entries[int(conflict.queue)][conflict.sequence - 1];
    const std::string where = fmt::format("bytes 0x{:x} to 0x{:x} of the {} scratchpad",
                                          tile.offset, tile.end(), isa::name_of(tile.space));
    const bool other_first = other < index;
    const uint32_t a = other_first ? other : index, b = other_first ? index : other;
    const auto words = [&](uint32_t e) {
      Toucher t = toucher(isa::queue_of(entry(e).instruction), e, 0);
      return describe(t, entry(e).label);
    };
    const bool b_writes = other_first ? isa::writes(access) : conflict.other_writes;
    const bool a_writes = other_first ? conflict.other_writes : isa::writes(access);
    throw InvariantError(fmt::format(
        "{} {} {} that {} {}, and no edge orders them: needs a {} from {} to {}", words(b),
        b_writes ? "writes" : "reads", where, words(a), a_writes ? "writes" : "reads",
        conflict.queue == queue ? "fence" : "signal", words(a), words(b)));
  });
  tiles([&](const isa::TileRef& tile, isa::Access access) {
    order.record(tile, isa::reads(access), isa::writes(access), queue, sequence);
  });
}

void CoreState::check_memory(const Toucher& by, const Knowledge& knowledge, Address at,
                             int64_t bytes, bool write) {
  if (!run.options.check_order) return;
  if (write)
    run.memory_order.write(at, bytes, by, knowledge);
  else
    run.memory_order.read(at, bytes, by, knowledge);
}

void CoreState::check_hidden_reads(isa::Queue queue, uint32_t index, Sequence sequence,
                                   const Knowledge& knowledge) {
  if (!run.options.check_order) return;
  const Toucher by = toucher(queue, index, sequence);
  isa::Context c = context();
  const isa::Instruction& instruction = entry(index).instruction;
  if (const auto* g = std::get_if<isa::Gather>(&instruction)) {
    if (g->generation.empty()) return;
    check_memory(by, knowledge, c.address(g->generation), 8, false);
    if (g->requests.empty()) return;
    const int32_t request = run.memory.get<int32_t>(c.address(g->generation, 0, 1));
    if (request < 0 || request >= c.tensor(g->requests).rows()) return;
    check_memory(by, knowledge, c.address(g->requests, request, 0), 16, false);
  } else if (const auto* t = std::get_if<isa::Translate>(&instruction)) {
    check_memory(by, knowledge, t->request_entry(c), 16, false);
    t->for_each_walk(c, [&](Address a) { check_memory(by, knowledge, a, 4, false); });
  }
}

void CoreState::execute(uint32_t index) {
  const isa::Entry& e = entry(index);
  if (run.options.values == Values::steering && !e.live) return;
  isa::Context c = context();
  isa::execute(e.instruction, c);
}

void CoreState::retired(const InFlight& f, int32_t unit, Cycle at) {
  LaunchResult& result = run.results[task.launch];
  ++result.instructions;
  const int64_t macs = f.work.m * f.work.n * f.work.k;
  result.macs += macs;
  run.last_retirement = std::max(run.last_retirement, at);
  --remaining;
  if (!run.observed()) return;
  const traces::InstructionEvent event{.unit = unit,
                                       .slot = f.slot,
                                       .launch = task.launch,
                                       .task = task.number,
                                       .entry = int32_t(f.entry),
                                       .name = isa::name_of(entry(f.entry).instruction),
                                       .label = entry(f.entry).label,
                                       .issued = f.issued,
                                       .started = f.started,
                                       .retired = at,
                                       .read_bytes = f.work.read_bytes,
                                       .write_bytes = f.work.write_bytes,
                                       .macs = macs,
                                       .descriptors = f.descriptors,
                                       .parts = f.parts,
                                       .move = f.move};
  run.observe([&](traces::Observer& o) { o.instruction(event); });
}

void CoreState::flow(int32_t from, Cycle given, int32_t to, Cycle start) const {
  if (!run.observed() || from < 0) return;
  const traces::FlowEvent event{
      .from_unit = from, .to_unit = to, .from_time = given, .to_time = start};
  run.observe([&](traces::Observer& o) { o.flow(event); });
}

}  // namespace daybreak::sim
