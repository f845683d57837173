#include "kernels/machines/legalise/rules.hpp"

namespace daybreak::kernels {

void walk_on_control(Recording& r, const isa::Capabilities& chip) {
  if (chip.page_walker) return;
  for (Recorded& c : r.code)
    if (auto* walk = std::get_if<isa::Translate>(&c.instruction)) walk->on_control = 1;
}

}  // namespace daybreak::kernels
