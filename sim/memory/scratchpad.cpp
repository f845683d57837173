#include "sim/memory/scratchpad.hpp"

#include <algorithm>

namespace daybreak::sim {
namespace {

bool same_region(const isa::TileRef& a, const isa::TileRef& b) {
  return a.space == b.space && a.offset == b.offset && a.pitch == b.pitch && a.rows == b.rows &&
         a.row_bytes() == b.row_bytes();
}

// Whether an operand goes through the banks cycle after cycle.
bool streams(const isa::TileRef& t, const ScratchConfig& c) {
  return !t.empty() && int64_t(t.offset) / c.bank_width != (int64_t(t.end()) - 1) / c.bank_width;
}

}  // namespace

double bank_conflict_factor(std::span<const isa::TileRef> operands, const ScratchConfig& c) {
  int64_t worst = 1;
  for (size_t i = 0; i < operands.size(); ++i) {
    const isa::TileRef& a = operands[i];
    if (!streams(a, c)) continue;
    int64_t meeting = 0;
    for (size_t j = 0; j < operands.size(); ++j) {
      const isa::TileRef& b = operands[j];
      if (!streams(b, c) || a.space != b.space) continue;
      if (int64_t(a.offset) / c.bank_width % c.banks !=
          int64_t(b.offset) / c.bank_width % c.banks) {
        continue;
      }
      const bool seen = std::any_of(operands.begin(), operands.begin() + j,
                                    [&](const isa::TileRef& e) { return same_region(e, b); });
      meeting += !seen;
    }
    worst = std::max(worst, meeting);
  }
  return double(worst);
}

}  // namespace daybreak::sim
