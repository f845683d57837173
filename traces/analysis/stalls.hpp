// Where the cycles went: busy and stall cycles per unit and per (launch, kind of unit), from the
// spans of a run. Spans must tile the run: a gap, an overlap or a missing end is an InvariantError
// that names the unit, so the sums below are exact.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "traces/event/event.hpp"

namespace daybreak::traces {

using CauseCycles = std::array<int64_t, kCauses>;  // cycles by cause; [Cause::busy] is busy time

int64_t total(const CauseCycles&);
int64_t busy(const CauseCycles&);
// The stall with most cycles; Cause::busy when there was none. Ties go to the first of the list.
Cause top_stall(const CauseCycles&);

// One kind of unit ("chip.core.matrix") in one launch. `ran` counts the units of cores that ran at
// least one task of the launch, `all` every unit of the kind.
struct KindAccount {
  std::string kind;
  int64_t units_ran = 0, units = 0;
  CauseCycles ran{}, all{};
  std::map<std::string, int64_t> waits_for;  // stall cycles by the kind that had to act (ran)

  std::string_view word() const;  // last word of the kind: "matrix"
  double busy_share() const;      // of the cores that ran the launch, 0 to 1
};

struct LaunchAccount {
  int64_t launch = kNone;
  std::string kernel;
  int64_t tasks = 0, cores = 0;               // tasks that ended, cores that ran one
  int64_t ready = 0, started = 0, ended = 0;  // cycles
  std::vector<KindAccount> kinds;             // units of cores, in the order they were announced
  int64_t cycles() const { return ended - ready; }
  const KindAccount* kind(std::string_view word) const;  // by last word; nullptr: none
  // The kind whose work bounds the launch: most cycles busy or held up by data (see is_data_stall),
  // as a share of its time; nullptr without units.
  const KindAccount* bounding() const;
};

// Stalls that come from how data lies and moves, as opposed to issue, order and dispatch.
bool is_data_stall(Cause);

class StallAccount : public Observer {
 public:
  void unit(const UnitInfo&) override;
  void span(const UnitSpan&) override;
  void task(const TaskEvent&) override;
  void launch(const LaunchEvent&) override;
  void end(int64_t cycles) override;

  int64_t cycles() const { return cycles_; }
  const std::vector<UnitInfo>& units() const { return units_; }
  const CauseCycles& unit_cycles(int32_t unit) const;  // by unit id
  // Launches in ascending number. Cycles outside every launch belong to none of them.
  std::vector<LaunchAccount> launches() const;
  LaunchAccount launch_account(int64_t launch) const;  // InvariantError if it never ran

 private:
  struct PerLaunch {
    LaunchEvent event;
    std::string kernel;
    int64_t tasks = 0;
    std::set<int32_t> cores;
    std::vector<CauseCycles> units;                        // by index in units_
    std::map<std::pair<int32_t, int32_t>, int64_t> waits;  // (unit index, unit index waited for)
  };
  size_t index_of(int32_t unit) const;
  LaunchAccount account(int64_t number, const PerLaunch&) const;

  std::vector<UnitInfo> units_;
  std::vector<int32_t> index_;  // by unit id; -1: not announced
  std::vector<CauseCycles> totals_;
  std::vector<int64_t> reached_;  // end of the last span, by unit
  std::map<int64_t, PerLaunch> launches_;
  int64_t cycles_ = 0;
  bool ended_ = false;
};

}  // namespace daybreak::traces
