#include "kernels/runtime/plan/index_steps_impl.hpp"

namespace daybreak::kernels {

IndexSteps index_steps_bf16_64(int queries) {
  return index_steps_for<64, dsa::Plain, 1, 5, 8>(queries);
}

}  // namespace daybreak::kernels
