// A kernel as the programs of two chips: they must pass the verifier and, executed in random orders,
// leave the memory that Host leaves, bit for bit. One chip does everything directly (mx-dma), the other
// has separate matrix and vector scratch, no FP8, no gather engine and no page walker
// (davinci-like-2).
#pragma once
#include "isa/program/verify.hpp"
#include "kernels/machines/record.hpp"
#include "tests/kernels/library/scene.hpp"
#include "tests/kernels/machines/interleaver.hpp"

namespace daybreak::kernels {

inline isa::Capabilities direct_chip() {
  isa::Capabilities c;
  c.scratch = {Bytes(512 << 10), Bytes(512 << 10), Bytes(256 << 10)};
  c.latch_a = c.latch_b = Bytes(64 << 10);
  c.converting_dma = true;
  c.cores = 32;
  return c;
}
inline isa::Capabilities split_chip() {
  isa::Capabilities c;
  c.scratch = {Bytes(512 << 10), Bytes(384 << 10), Bytes(128 << 10)};
  c.latch_a = c.latch_b = Bytes(64 << 10);
  c.accumulator_visible = c.operand_visible = c.gather_to_operand = false;
  c.gather_engine = c.page_walker = c.fp8_matrix = c.pair_link = false;
  c.cores = 24;
  return c;
}

// `tunings`: one per chip.
struct Tunings {
  Tuning direct, split;
};

template <template <class> class K, class Fill>
void expect_same_on(const Scene& scene, const Fill& fill, const Tuning& tuning,
                    const isa::Capabilities& chip, uint64_t seed) {
  Scene host, device;
  scene.copy_to(host);
  scene.copy_to(device);
  typename K<Host>::Args on_host{};
  fill(on_host);
  run_on_host<K>(on_host, tuning, host.memory, host.bindings, {.fp8_matrix = chip.fp8_matrix});
  typename K<Record>::Args recorded{};
  fill(recorded);
  testing::SharedCounters counters;
  for (int task = 0; task < K<Record>::tasks(recorded); ++task) {
    const auto program = record_task<K>(
        recorded, tuning, uint32_t(task),
        {.capabilities = chip, .memory = device.memory, .bindings = device.bindings});
    for (const auto& finding : isa::verify(program, chip, &device.bindings))
      ADD_FAILURE() << "task " << task << ": " << finding.message;
    testing::run_interleaved(program, chip, device.memory, device.bindings, counters,
                             {.seed = seed + uint64_t(task), .semaphore_max = chip.semaphore_max});
  }
  for (size_t id = 0; id < scene.bindings.size(); ++id)
    EXPECT_EQ(host.all<uint8_t>(uint16_t(id)), device.all<uint8_t>(uint16_t(id)))
        << scene.bindings[id].name << " differs";
}

template <template <class> class K, class Fill>
void expect_same(const Scene& scene, const Fill& fill, const Tunings& tunings = {}) {
  for (uint64_t seed : {1, 2}) {
    SCOPED_TRACE(::testing::Message() << "direct chip, seed " << seed);
    expect_same_on<K>(scene, fill, tunings.direct, direct_chip(), seed);
  }
  SCOPED_TRACE("split chip");
  expect_same_on<K>(scene, fill, tunings.split, split_chip(), 3);
}

}  // namespace daybreak::kernels
