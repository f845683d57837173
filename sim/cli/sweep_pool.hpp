// Runs of a sweep as processes of this host.
#pragma once
#include <vector>

#include "sim/cli/sweep_results.hpp"

namespace daybreak::cli {

// Exit status of work that was interrupted and may simply be started again (EX_TEMPFAIL of sysexits.h).
inline constexpr int kTryAgain = 75;

// Up to `jobs` at a time; each ends as a result. False when a run was stopped from outside: that says nothing
// about its point, so nothing is written for it, and no other one is started.
bool run_all(const configs::Sweep&, const std::vector<const SweepRun*>&, int jobs,
             const SweepResults&);

}  // namespace daybreak::cli
