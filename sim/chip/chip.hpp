// The simulated accelerator: a chip description, a memory image, a source of task programs.
//
//   sim::Chip chip(config, image, bindings, source, options);
//   sim::RunResult r = chip.run(launches, {&perfetto, &stalls});
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "isa/program/program.hpp"
#include "sim/chip/config.hpp"
#include "sim/memory/port.hpp"
#include "traces/event/event.hpp"

namespace daybreak::sim {

enum class Values : uint8_t { full, steering };

// Cumulative counters of whatever stands behind the ports.
struct MemoryTotals {
  int64_t hbm_read_bytes = 0, hbm_write_bytes = 0;
  int64_t row_hits = 0, row_misses = 0, row_conflicts = 0;  // conflicts: misses behind another row
};

// What stands behind the cores' ports. Built after the SystemC context and destroyed before it.
class MemoryBackend {
 public:
  virtual ~MemoryBackend() = default;
  virtual MemoryPort& port(int core) = 0;
  virtual MemoryTotals totals() const { return {}; }
};
using MemoryFactory = std::function<std::unique_ptr<MemoryBackend>(const ChipConfig&)>;

struct ChipOptions {
  Values values = Values::full;
  bool check_order = true;        // happens-before checker
  int64_t watchdog = 50'000'000;  // cycles without any retirement before a deadlock is reported
  MemoryFactory memory;           // empty: NoC, L2 and HBM of the chip's description
  // Binding that holds converted weights where they do not stay in scratch (chip.core.dma.workspace).
  std::optional<uint16_t> workspace = std::nullopt;
};

// Totals of one launch (what its tasks asked for and got).
struct LaunchResult {
  std::string kernel;
  int64_t tasks = 0, ready = 0, started = 0, ended = 0;  // cycles
  int64_t instructions = 0, macs = 0;
  int64_t read_bytes = 0, write_bytes = 0;                  // between cores and L2
  int64_t hbm_read_bytes = 0, hbm_write_bytes = 0;          // between L2 and HBM, while it ran
  int64_t row_hits = 0, row_misses = 0, row_conflicts = 0;  // as in MemoryTotals, while it ran
  int64_t l2_hits = 0, l2_misses = 0, tlb_hits = 0, tlb_misses = 0;
  int64_t scale_hits = 0, scale_misses = 0;  // sectors of block scales looked up by the converter
};

struct RunResult {
  int64_t cycles = 0;
  std::vector<LaunchResult> launches;
  int64_t hbm_read_bytes = 0, hbm_write_bytes = 0, row_hits = 0, row_misses = 0;
  isa::ConversionCounters conversions;  // of values that were computed
  int64_t workspace_bytes =
      0;  // that have held converted weights, summed over cores: scratch, memory
};

class Chip {
 public:
  Chip(const ChipConfig&, isa::MemoryImage&, isa::BindingTable&, isa::TaskSource&,
       ChipOptions = {});
  ~Chip();
  // Runs all launches to the end, from cold caches at cycle 0 each time; the image keeps what they
  // wrote. Throws InvariantError on deadlock, a read without an edge, a stale
  // index table or phantom data that steers; the message starts with time and module path. Several
  // chips may run one after the other in one process.
  RunResult run(std::span<const isa::Launch>, std::span<traces::Observer* const> = {});

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace daybreak::sim
