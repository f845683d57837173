#include "kernels/machines/legalise/rules.hpp"

namespace daybreak::kernels {

void gather_in_software(Recording& r, const isa::Capabilities& chip) {
  if (chip.gather_engine) return;
  for (Recorded& c : r.code)
    if (auto* gather = std::get_if<isa::Gather>(&c.instruction)) gather->software = 1;
}

}  // namespace daybreak::kernels
