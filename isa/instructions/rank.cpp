#include "isa/instructions/rank.hpp"

#include "isa/instructions/detail/words.hpp"

namespace daybreak::isa {

// Like records of a sort pass: each entry goes through the unit once.
Work Rank::work() const { return {.merge_records = entries.elements(), .sort_passes = 1}; }

void Rank::execute(Context& c) const {
  detail::expect_shape(counters, 1, counters.cols, "counters", kName);
  const detail::Words from(c, entries, kName), counts(c, counters, kName);
  if (!to.empty()) detail::expect_shape(to, entries.cols, entries.rows, "numbers", kName);
  for (int64_t r = 0; r < entries.rows; ++r)
    for (int64_t i = 0; i < entries.cols; ++i) {
      const int32_t entry = from.row(r)[i];
      if (entry < -1 || entry >= int64_t(counters.cols))
        detail::fail(kName, "entry " + std::to_string(entry) + " names none of " +
                                std::to_string(counters.cols) + " counters");
      const int32_t number = entry < 0 ? -1 : counts.row(0)[entry]++;
      if (!to.empty()) detail::Words(c, to, kName).row(i)[r] = number;
    }
}

}  // namespace daybreak::isa
