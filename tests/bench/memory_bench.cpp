// Speed of the memory model: 64-byte requests answered per second of host time. A row of 656 bytes
// counts as the 64-byte sectors it touches, a 512-byte line as eight.
//   hierarchy: 32 cores of the default chip through NoC and L2; dram: the stack behind the same kind
//   of port; hits: lines that the L2 holds. One HBM stack with refresh.
#include <benchmark/benchmark.h>

#include <memory>
#include <systemc>
#include <vector>

#include "ref/numeric/random.hpp"
#include "sim/memory/hbm.hpp"
#include "sim/memory/memory_system.hpp"
#include "sim/memory/tlm_initiator.hpp"
#include "sim/memory/tlm_target.hpp"

namespace daybreak::sim {
namespace {

constexpr uint64_t kSpan = uint64_t{32} << 30;

enum class Pattern { sequential, rows656, random64, hits };

// A closed loop of requests that never touch two lines.
class Client : public MemoryClient {
 public:
  Client(MemoryPort& port, Pattern pattern, int core, int cores, int64_t outstanding)
      : port_(port), pattern_(pattern), core_(core), cores_(cores), outstanding_(outstanding) {}
  void completed(std::span<const Completion> done) override {
    in_flight_ -= int64_t(done.size());
    fill();
  }
  void fill() {
    batch_.clear();
    while (in_flight_ < outstanding_) {
      const size_t before = batch_.size();
      next();
      in_flight_ += int64_t(batch_.size() - before);
    }
    port_.submit(batch_, *this);
  }
  int64_t sectors() const { return sectors_; }

 private:
  uint64_t random(uint64_t below) {
    return numeric::below(numeric::mix(1, uint64_t(core_), index_++), below);
  }
  void add(uint64_t from, uint64_t to) {
    batch_.push_back({Address(from), uint32_t(to - from), false, 0});
    sectors_ += int64_t((to - 1) / 64 - from / 64 + 1);
  }
  void next() {
    switch (pattern_) {
      case Pattern::hits: {
        const uint64_t at = (index_++ % 64 * uint64_t(cores_) + uint64_t(core_)) * 512;
        return add(at, at + 512);
      }
      case Pattern::sequential: {
        const uint64_t at = (index_++ * uint64_t(cores_) + uint64_t(core_)) * 512 % kSpan;
        return add(at, at + 512);
      }
      case Pattern::rows656: {
        const uint64_t at = random(kSpan / 656) * 656;
        for (uint64_t from = at; from < at + 656;) {
          const uint64_t to = std::min(at + 656, (from / 512 + 1) * 512);
          add(from, to);
          from = to;
        }
        return;
      }
      case Pattern::random64: {
        const uint64_t at = random(kSpan / 64) * 64;
        return add(at, at + 64);
      }
    }
  }

  MemoryPort& port_;
  Pattern pattern_;
  int core_, cores_;
  int64_t outstanding_, in_flight_ = 0, sectors_ = 0;
  uint64_t index_ = 0;
  std::vector<Burst> batch_;
};

void new_world() {
  sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = new sc_core::sc_simcontext;
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
  sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_,
                                          sc_core::SC_DO_NOTHING);
}

void run_loops(benchmark::State& state, std::vector<std::unique_ptr<Client>>& clients) {
  const sc_core::sc_time slice(5, sc_core::SC_US);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (auto& client : clients) client->fill();
  sc_core::sc_start(slice);
  int64_t before = 0, after = 0;
  for (auto& client : clients) before += client->sectors();
  for (auto _ : state) sc_core::sc_start(slice);
  for (auto& client : clients) after += client->sectors();
  state.counters["requests/s"] =
      benchmark::Counter(double(after - before), benchmark::Counter::kIsRate);
}

ChipConfig one_stack() {
  ChipConfig config;
  config.hbm.stacks = 1;
  return config;
}

void hierarchy(benchmark::State& state, Pattern pattern) {
  new_world();
  const ChipConfig config = one_stack();
  MemorySystem memory(config);
  std::vector<std::unique_ptr<Client>> clients;
  for (int core = 0; core < int(config.cores); ++core) {
    clients.push_back(
        std::make_unique<Client>(memory.port(core), pattern, core, int(config.cores), 64));
  }
  run_loops(state, clients);
}

void dram(benchmark::State& state, Pattern pattern) {
  new_world();
  const ChipConfig config = one_stack();
  HbmPort port("dram", config.hbm);
  std::vector<std::unique_ptr<Client>> clients;
  clients.push_back(std::make_unique<Client>(port, pattern, 0, 1, 512));
  run_loops(state, clients);
}

// 64-byte transactions through both TLM adapters, in flight 512 at a time.
void tlm_adapters(benchmark::State& state) {
  new_world();
  const ChipConfig config = one_stack();
  HbmPort port("dram", config.hbm);
  TlmTarget target("target", port, 1 << 20);
  TlmInitiator outside("outside", {.chunk = 64});
  outside.socket(0).bind(target.socket);
  std::vector<std::unique_ptr<Client>> clients;
  clients.push_back(std::make_unique<Client>(outside, Pattern::random64, 0, 1, 512));
  run_loops(state, clients);
}

BENCHMARK(tlm_adapters);
BENCHMARK_CAPTURE(hierarchy, sequential, Pattern::sequential);
BENCHMARK_CAPTURE(hierarchy, rows656, Pattern::rows656);
BENCHMARK_CAPTURE(hierarchy, random64, Pattern::random64);
BENCHMARK_CAPTURE(hierarchy, hits, Pattern::hits);
BENCHMARK_CAPTURE(dram, sequential, Pattern::sequential);
BENCHMARK_CAPTURE(dram, rows656, Pattern::rows656);
BENCHMARK_CAPTURE(dram, random64, Pattern::random64);

}  // namespace
}  // namespace daybreak::sim

BENCHMARK_MAIN();
