// What stands behind the L2: our HBM stacks, or any memory port (port_dram.hpp), which may be an
// outside simulator's (tlm_initiator.hpp).
#pragma once
#include <cstdint>

#include "sim/memory/memory_system.hpp"

namespace daybreak::sim {

// Why a piece of a request was late: waited for its row, behind others, behind a refresh. Ticks.
struct RunDelay {
  int64_t row = 0, bandwidth = 0, refresh = 0;
};

// Who wants to know when a piece's data are there. Called once per piece, ahead of time or in time.
class DramListener {
 public:
  virtual ~DramListener() = default;
  // `tick`: the end of the piece's last data burst, not before now.
  virtual void served(uint64_t owner, int64_t tick, const RunDelay&) = 0;
};

class Dram {
 public:
  virtual ~Dram() = default;
  // Asks for [address, address + bytes), which reaches the controllers at `at` fs >= now. Returns
  // the number of pieces: the listener hears served(owner, ...) once for each.
  virtual int request(uint64_t address, uint64_t bytes, bool write, uint64_t owner, int64_t at) = 0;
  virtual HbmStats stats() const = 0;
  virtual bool idle() const = 0;
  virtual int64_t tick_fs() const = 0;
};

}  // namespace daybreak::sim
