#include "kernels/device/start_block.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<QueryRotate>& args, const Place& place) {
  start_block<QueryRotate>(args, place);
}

}  // namespace daybreak::kernels::device
