#include "kernels/device/start_block.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<TopkLong>& args, const Place& place) {
  start_block<TopkLong>(args, place);
}

}  // namespace daybreak::kernels::device
