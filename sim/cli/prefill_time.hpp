// What a prefill takes, from the windows that were run: those left out are taken to lie on straight lines
// between the groups that were.
#pragma once
#include <vector>

#include "kernels/runtime/plan/prefill.hpp"
#include "sim/cli/simulate.hpp"

namespace daybreak::cli {

struct PrefillTime {
  double cycles = 0;      // of all windows
  double run_cycles = 0;  // of those that were run
  double overlap_share =
      0;  // of the selection's time, that an attention stage ran beside it, 0 to 1
};
PrefillTime prefill_time(const kernels::Prefill&, const kernels::Plan&, const sim::RunResult&);

// Adds facts and metrics.
void describe(Simulated&, const kernels::Prefill&, const kernels::Plan&, const sim::ChipConfig&,
              const CommonOptions&, int64_t sequences);

}  // namespace daybreak::cli
