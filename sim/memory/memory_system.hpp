// The memory hierarchy of a chip behind one port per core: network, L2 slices, HBM stacks.
//
// One module holds network and L2, one module each HBM stack; each has its own event wheel and at
// most one pending SystemC event. Decisions lie up to one NoC latency ahead of what they can
// influence, so a module takes them in batches, in exact time order, and wakes exactly only to call
// clients back.
//
// Path of a read: request crosses the NoC (latency) -> its slice (rate, in order of arrival) ->
// after hit_latency the data leave, or the missing sectors are fetched (controller + DRAM) and then
// leave -> NoC (latency, then the core's link at its rate). A write carries its data on the request
// link and completes when its slice has taken it, one NoC latency later at the core. On a mesh or
// ring the way has hops besides (noc.hpp). Fills and
// write-backs do not use slice bandwidth. A read request occupies no link bandwidth but waits
// behind write data.
//
// Delay of a completion: noc = waiting for links and the slice's rate; l2_miss = the unloaded part
// of the fetch; hbm_row, hbm_bandwidth, refresh = the rest of it. (at - submitted) minus all five
// is 2 * latency + hit_latency + own transfer for a read, 2 * latency + own transfer for a write,
// and the hops there and back.
//
// The system is built under SystemC's 1 fs resolution. Ports live as long as the system; a client
// must outlive what it has outstanding.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <systemc>
#include <vector>

#include "sim/chip/config.hpp"
#include "sim/memory/port.hpp"

namespace daybreak::sim {

// Cumulative counters; readable at any time, they may lag what is in flight by one NoC latency.
struct HbmStats {
  int64_t read_bytes = 0, write_bytes = 0;    // on the data buses, whole atoms
  int64_t row_hits = 0;                       // columns that found their row open
  int64_t row_misses = 0, row_conflicts = 0;  // activates of a closed bank / behind another row
  int64_t activates = 0, refreshes = 0;       // commands
  Femtoseconds refresh_stall;                 // summed over runs that waited for a refresh
  HbmStats& operator+=(const HbmStats&);
};

struct L2Stats {
  int64_t hits = 0, misses = 0;           // bursts; a write misses when its line is absent
  int64_t merged = 0;                     // misses that joined a fetch already in flight
  int64_t evictions = 0, writebacks = 0;  // lines; writebacks were dirty
  int64_t fetched_bytes = 0, written_back_bytes = 0;
  int64_t bypasses = 0;  // no way of the set could be replaced, or the burst goes around the L2
};

struct NocStats {
  int64_t read_bytes = 0, write_bytes = 0;  // to the core, from the core
  int64_t busy_in = 0, busy_out = 0;        // cycles each direction of the core's link was used
};

struct MemoryStats {
  HbmStats hbm;
  L2Stats l2;
  std::vector<NocStats> cores;
};

class Dram;
class DramListener;
// Builds what stands behind the L2 (sim/memory/dram.hpp).
using DramFactory = std::function<std::unique_ptr<Dram>(const HbmConfig&, DramListener&)>;

class MemorySystem {
 public:
  // Throws UserError for a geometry that cannot be built (sectors that do not divide a line, ...)
  // and InvariantError when SystemC's resolution is not 1 fs.
  // An empty factory: the HBM stacks of the chip's description.
  explicit MemorySystem(const ChipConfig&, sc_core::sc_module_name name = "memory",
                        const DramFactory& dram = {});
  ~MemorySystem();
  MemorySystem(const MemorySystem&) = delete;

  // A core's port: bursts of 1 byte to one L2 line that do not cross a line. The page walker of a
  // core uses the core's port. Throws InvariantError on a burst that crosses a line or is empty.
  MemoryPort& port(int core);
  int64_t line_bytes() const;
  MemoryStats stats() const;
  // True when nothing is in flight, write-backs included.
  bool idle() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace daybreak::sim
