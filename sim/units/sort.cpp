#include "sim/units/sort.hpp"

#include <cmath>

namespace daybreak::sim {
namespace {

// Scores a histogram select looks at, records it takes out.
struct Selection {
  int64_t scores = 0, chosen = 0;
};

Selection selection_of(const isa::Instruction& instruction) {
  if (const auto* t = std::get_if<isa::TopkBlock>(&instruction))
    return {t->count, std::min(t->count, t->k)};
  if (const auto* m = std::get_if<isa::MergeTopk>(&instruction)) {
    int64_t records = 0;
    for (const isa::TileRef* list : {&m->a, &m->b, &m->c, &m->d}) records += list->elements();
    return {records, std::min<int64_t>(records, m->k)};
  }
  return {};
}

}  // namespace

Cost sort_cost(const SortConfig& c, const isa::Instruction& instruction, const isa::Work& w) {
  if (c.method == "histogram") {
    const Selection s = selection_of(instruction);
    const Cycle level = c.head + ceil_div(s.scores, c.select_per_cycle * c.units);
    const int64_t out = s.chosen + w.extract_records;
    const int64_t levels = s.scores > 0 ? c.select_levels : 0;
    return {.busy = levels * level + c.head + ceil_div(out, c.extract_per_cycle * c.units),
            .fixed = (levels + 1) * c.head};
  }
  const double rate = c.records_per_cycle * double(c.units);
  const auto passes = [&](int64_t records) { return Cycle(std::ceil(double(records) / rate)); };
  const Cycle heads = std::max<int64_t>(w.sort_passes, 1) * c.head;
  return {.busy = heads + passes(w.sort32_records) + passes(w.merge_records) +
                  ceil_div(w.extract_records, c.extract_per_cycle * c.units),
          .fixed = heads};
}

}  // namespace daybreak::sim
