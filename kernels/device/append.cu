#include "kernels/device/start_block.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<LatentStore>& args, const Place& place) {
  start_block<LatentStore>(args, place);
}

}  // namespace daybreak::kernels::device
