// A whole memory system on its own, asked burst by burst.
#pragma once
#include "tests/sim/memory/rig.hpp"

namespace daybreak::sim::test {

// Without refresh nothing disturbs what is counted.
inline ChipConfig quiet_chip() {
  ChipConfig c;
  c.hbm.refresh = "off";
  return c;
}

struct MemoryRig {
  explicit MemoryRig(const ChipConfig& c) : config(c), memory(c) { World::run_for(0); }

  // Sends one burst on a quiet chip; its time in fs.
  Completion one(uint64_t address, uint32_t bytes, bool write = false, int core = 0) {
    Recorder client;
    const Burst burst{Address(address), bytes, write, 9};
    started = aligned();
    memory.port(core).submit(std::span(&burst, 1), client);
    World::run_all();
    EXPECT_EQ(client.got.size(), 1u);
    EXPECT_EQ(client.got.at(0).tag, 9u);
    return client.got.at(0);
  }
  int64_t cycles(const Completion& c) const {
    return (c.at.value - started) / config.period().value;
  }
  // Moves on to an edge of the core clock.
  int64_t aligned() const {
    const int64_t period = config.period().value;
    World::run_for((period - World::now() % period) % period);
    return World::now();
  }

  World world;
  ChipConfig config;
  MemorySystem memory;
  int64_t started = 0;
};

}  // namespace daybreak::sim::test
