#include "kernels/device/start_block.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<TopkSecond>& args, const Place& place) {
  start_block<TopkSecond>(args, place);
}

}  // namespace daybreak::kernels::device
