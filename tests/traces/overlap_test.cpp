// The overlap of units against a look at every single cycle.
#include "traces/analysis/overlap.hpp"

#include <gtest/gtest.h>

#include "event_stream.hpp"

namespace daybreak::traces {
namespace {

TEST(Overlap, EqualsALookAtEveryCycle) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const EventStream stream = random_stream(seed);
    OverlapAccount account;
    stream.play(account);
    std::map<int32_t, std::vector<unsigned>> at_work;  // by core: sets by cycle
    for (const UnitSpan& s : stream.spans) {
      const auto unit = std::find_if(stream.units.begin(), stream.units.end(),
                                     [&](const UnitInfo& u) { return u.id == s.unit; });
      const unsigned bit = unit->kind.ends_with("matrix")                ? 1
                           : unit->kind.ends_with("vector")              ? 2
                           : unit->kind.find("dma") != std::string::npos ? 4
                                                                         : 0;
      if (s.cause != Cause::busy || bit == 0) continue;
      auto& cycles = at_work[unit->core];
      cycles.resize(size_t(stream.cycles));
      for (int64_t c = s.begin; c < s.end; ++c) cycles[size_t(c)] |= bit;
    }
    std::array<int64_t, 8> want{};
    for (const auto& [core, cycles] : at_work)
      for (const unsigned set : cycles) ++want[set];
    const auto got = account.cycles();
    int64_t all = got[0];
    for (size_t set = 1; set < 8; ++set) {
      EXPECT_EQ(got[set], want[set]) << seed << " " << OverlapAccount::name_of_set(unsigned(set));
      all += got[set];
    }
    EXPECT_EQ(all, account.task_cycles());
  }
}

}  // namespace
}  // namespace daybreak::traces
