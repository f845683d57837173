#include "kernels/machines/legalise/rules.hpp"

namespace daybreak::kernels {

void gather_alone(Recording& r, const isa::Capabilities& chip) {
  if (chip.pair_link) return;
  for (Recorded& c : r.code)
    if (auto* gather = std::get_if<isa::Gather>(&c.instruction))
      gather->sharing = int32_t(isa::Sharing::alone);
}

}  // namespace daybreak::kernels
