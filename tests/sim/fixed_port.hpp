// A memory of constant latency for tests: every burst completes `latency` cycles after it was
// submitted, and the bursts are kept for inspection.
#pragma once
#include <deque>
#include <memory>
#include <systemc>
#include <vector>

#include "sim/chip/chip.hpp"
#include "sim/core/clock.hpp"

namespace daybreak::sim::test {

struct SeenBurst {
  Cycle at;
  uint64_t address;
  uint32_t bytes;
  bool write;
};

class FixedPort : public sc_core::sc_module, public MemoryPort {
 public:
  FixedPort(const sc_core::sc_module_name& name, CoreClock clock, Cycle latency,
            std::vector<SeenBurst>* seen)
      : sc_core::sc_module(name), clock_(clock), latency_(latency), seen_(seen) {
    SC_HAS_PROCESS(FixedPort);
    SC_METHOD(deliver);
    sensitive << wakeup_.event();
    dont_initialize();
  }
  void submit(std::span<const Burst> bursts, MemoryClient& client) override {
    const Cycle now = clock_.now();
    for (const Burst& b : bursts) {
      if (seen_) seen_->push_back({now, b.address.value, b.bytes, b.write});
      waiting_.push_back({now + latency_, b.tag, &client});
    }
    wakeup_.at(waiting_.front().at, clock_);
  }

 private:
  struct Waiting {
    Cycle at;
    uint64_t tag;
    MemoryClient* client;
  };
  void deliver() {
    wakeup_.fired();
    const Cycle now = clock_.now();
    while (!waiting_.empty() && waiting_.front().at <= now) {
      const Waiting w = waiting_.front();
      waiting_.pop_front();
      const Completion c{.tag = w.tag,
                         .at = Femtoseconds(int64_t(sc_core::sc_time_stamp().value())),
                         .l2_hit = true,
                         .delay = {}};
      w.client->completed(std::span(&c, 1));
    }
    if (!waiting_.empty()) wakeup_.at(waiting_.front().at, clock_);
  }
  CoreClock clock_;
  Cycle latency_;
  std::vector<SeenBurst>* seen_;
  Wakeup wakeup_;
  std::deque<Waiting> waiting_;
};

class FixedMemory : public MemoryBackend {
 public:
  FixedMemory(const ChipConfig& config, Cycle latency, std::vector<SeenBurst>* seen) {
    for (int c = 0; c < config.cores; ++c)
      ports_.push_back(std::make_unique<FixedPort>(("port" + std::to_string(c)).c_str(),
                                                   CoreClock(config.period()), latency, seen));
  }
  MemoryPort& port(int core) override { return *ports_[size_t(core)]; }

 private:
  std::vector<std::unique_ptr<FixedPort>> ports_;
};

inline MemoryFactory fixed_memory(Cycle latency, std::vector<SeenBurst>* seen = nullptr) {
  return [=](const ChipConfig& c) { return std::make_unique<FixedMemory>(c, latency, seen); };
}

}  // namespace daybreak::sim::test
