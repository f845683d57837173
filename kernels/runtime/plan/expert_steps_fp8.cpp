#include "kernels/runtime/plan/expert_steps_impl.hpp"

namespace daybreak::kernels {

GemmChoice fp8_product(int64_t k, moe::Leaves leaves, GemmSize size) {
  return scaled_product<moe::Fp8>(k, leaves, size);
}

}  // namespace daybreak::kernels
