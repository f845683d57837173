#include "kernels/runtime/plan/index_steps_impl.hpp"

namespace daybreak::kernels {

IndexSteps index_steps_fp8_64(int queries) {
  return index_steps_for<64, dsa::Fp8, 1, 2, 4, 8>(queries);
}

}  // namespace daybreak::kernels
