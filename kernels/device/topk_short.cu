#include "kernels/device/start_block.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<TopkShort>& args, const Place& place) {
  start_block<TopkShort>(args, place);
}

}  // namespace daybreak::kernels::device
