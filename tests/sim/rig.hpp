// A chip on a bench: no launch and dispatch latencies unless a test sets them, memory of constant
// latency, hand-written programs, and an observer that keeps everything.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "configs/reader/errors.hpp"
#include "sim/chip/chip.hpp"
#include "tests/sim/fixed_port.hpp"

namespace daybreak::sim::test {

struct KeptInstruction {
  std::string unit, name, label;
  int slot;
  int64_t launch, task, entry, issued, started, retired;
};

struct Recorder : traces::Observer {
  void unit(const traces::UnitInfo& u) override {
    units.push_back({u.id, u.core, u.path, u.kind, u.slots});
  }
  void span(const traces::UnitSpan& s) override { spans.push_back(s); }
  void instruction(const traces::InstructionEvent& i) override {
    instructions.push_back({units[size_t(i.unit)].path, std::string(i.name), std::string(i.label),
                            i.slot, i.launch, i.task, i.entry, i.issued, i.started, i.retired});
  }
  void flow(const traces::FlowEvent& f) override { flows.push_back(f); }
  void task(const traces::TaskEvent& t) override { tasks.push_back(t); }
  void launch(const traces::LaunchEvent& l) override { launches.push_back(l); }
  void end(int64_t c) override { cycles = c; }

  const KeptInstruction& at(int64_t entry, int64_t task = 0, int64_t launch = 0) const {
    for (const auto& i : instructions)
      if (i.entry == entry && i.task == task && i.launch == launch) return i;
    throw InvariantError("no such instruction in the record");
  }
  // Cycles by cause of one unit.
  std::map<traces::Cause, int64_t> causes(const std::string& path) const {
    std::map<traces::Cause, int64_t> out;
    for (const auto& s : spans)
      if (units[size_t(s.unit)].path == path) out[s.cause] += s.end - s.begin;
    return out;
  }

  std::vector<traces::UnitInfo> units;
  std::vector<traces::UnitSpan> spans;
  std::vector<KeptInstruction> instructions;
  std::vector<traces::FlowEvent> flows;
  std::vector<traces::TaskEvent> tasks;
  std::vector<traces::LaunchEvent> launches;
  int64_t cycles = -1;
};

// Programs by launch and task.
struct Programs : isa::TaskSource {
  std::function<isa::TaskProgram(uint32_t, uint32_t, const isa::MemoryImage&)> make;
  isa::TaskProgram program(uint32_t launch, uint32_t task, const isa::MemoryImage& m) override {
    return make(launch, task, m);
  }
};

inline ChipConfig bench_config(int cores = 1) {
  ChipConfig c;
  c.cores = cores;
  c.scheduler.launch_us = c.scheduler.dispatch_cold_us = c.scheduler.dispatch_warm_us = 0;
  c.scheduler.acknowledge_us = c.scheduler.poll_us = 0;
  return c;
}

struct Rig {
  ChipConfig config = bench_config();
  isa::MemoryImage image;
  isa::BindingTable bindings;
  ChipOptions options{.memory = fixed_memory(100)};
  Recorder seen;

  uint16_t bind(const std::string& name, int64_t bytes) {
    bindings.push_back(
        {.name = name, .base = image.reserve(name, Bytes(bytes)), .bytes = Bytes(bytes)});
    return uint16_t(bindings.size() - 1);
  }
  RunResult run(std::vector<isa::Launch> launches,
                std::function<isa::TaskProgram(uint32_t, uint32_t, const isa::MemoryImage&)> make) {
    Programs programs;
    programs.make = std::move(make);
    seen = {};
    Chip chip(config, image, bindings, programs, options);
    traces::Observer* const observers[] = {&seen};
    return chip.run(launches, observers);
  }
  RunResult run(const isa::TaskProgram& p) {
    return run(
        {isa::Launch{.kernel = p.kernel, .tasks = 1, .grid = {}, .grid_tensor = {}, .after = {}}},
        [&](uint32_t, uint32_t, const isa::MemoryImage&) { return p; });
  }
  std::string error(const isa::TaskProgram& p) {
    try {
      run(p);
    } catch (const InvariantError& e) { return e.what(); }
    return "";
  }
};

inline isa::TileRef tile(isa::Space s, Format f, uint32_t offset, uint32_t rows, uint32_t cols) {
  return {.id = 0,
          .space = s,
          .format = f,
          .offset = offset,
          .pitch = uint32_t(bytes_of(f, cols)),
          .rows = rows,
          .cols = cols};
}

struct Edges {
  std::vector<int> waits{}, signals{};
  std::string label{};
  bool fence = false, live = true;
};

inline void add(isa::TaskProgram& p, isa::Instruction i, Edges e = {}) {
  isa::Entry entry{.instruction = std::move(i),
                   .waits = {},
                   .signals = {},
                   .fence = e.fence,
                   .live = e.live,
                   .label = e.label};
  for (int s : e.waits) entry.waits.push_back({uint8_t(s)});
  for (int s : e.signals) entry.signals.push_back({uint8_t(s)});
  for (const auto* list : {&e.waits, &e.signals})
    for (int s : *list) p.semaphores = std::max(p.semaphores, uint32_t(s) + 1);
  p.code.push_back(std::move(entry));
}

// Vector work of `rows` x 64 fp32 elements: start-up + rows / 2 cycles on two units of 64 lanes.
inline isa::Instruction vector_work(uint32_t offset, uint32_t rows) {
  return isa::Fill{.to = tile(isa::Space::vector, Format::f32, offset, rows, 64), .value = 1};
}
inline isa::Instruction matrix_work(uint32_t acc, uint32_t a, uint32_t b, uint32_t m, uint32_t n,
                                    uint32_t k) {
  return isa::Mma{.acc = tile(isa::Space::accumulator, Format::f32, acc, m, n),
                  .a = tile(isa::Space::operand, Format::bf16, a, m, k),
                  .b = tile(isa::Space::operand, Format::bf16, b, n, k),
                  .a_scales = {},
                  .b_scales = {},
                  .b_transposed = 1};
}

}  // namespace daybreak::sim::test
