#include "kernels/machines/legalise/rules.hpp"

namespace daybreak::kernels {

void legalise(Recording& r, const isa::Capabilities& chip) {
  convert_on_vector(r, chip);   // makes tiles that the vector unit writes
  cast_fp8_operands(r, chip);   // makes operands that the vector unit writes
  drain_accumulators(r, chip);  // makes shorter products
  move_operands(r, chip);
  gather_in_software(r, chip);
  gather_alone(r, chip);
  walk_on_control(r, chip);
  split_products(r, chip);
}

}  // namespace daybreak::kernels
