// From the least time a launch can take to the time it took, in steps that add up exactly:
//   floor     what HBM or the matrix unit needs for the useful work, whichever is more
//   layout    the bounding unit's time beyond the floor in which it worked or waited for data
//   issue     it waited for the control processor (issue order, full FIFO)
//   sync      it waited for other units (semaphores, ring slots, workspace hand-over)
//   dispatch  it had no task, or its launch was being prepared; idle cores count here
// The shares are those of the bounding unit kind over all cores of the chip. Where the floor's work
// ran beside that unit's waiting, its waits cover the floor in the order sync, issue, dispatch.
#pragma once
#include <cstdint>
#include <string>

#include "traces/analysis/stalls.hpp"

namespace daybreak::traces {

struct Waterfall {
  std::string unit;  // the bounding kind's last word, e.g. "dma_in"
  int64_t floor = 0, layout = 0, issue = 0, sync = 0, dispatch = 0, actual = 0;  // cycles
};

Waterfall waterfall(const LaunchAccount&, double floor_cycles);

}  // namespace daybreak::traces
