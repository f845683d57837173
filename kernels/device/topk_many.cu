#include "kernels/device/start_block.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<TopkMany>& args, const Place& place) {
  start_block<TopkMany>(args, place);
}

}  // namespace daybreak::kernels::device
