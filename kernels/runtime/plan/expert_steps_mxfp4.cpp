#include "kernels/runtime/plan/expert_steps_impl.hpp"

namespace daybreak::kernels {

GemmChoice mxfp4_product(int64_t k, moe::Leaves leaves, GemmSize size) {
  return scaled_product<moe::Mxfp4>(k, leaves, size);
}

}  // namespace daybreak::kernels
