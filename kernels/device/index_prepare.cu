#include "kernels/device/start_block.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<IndexStore>& args, const Place& place) {
  start_block<IndexStore>(args, place);
}

}  // namespace daybreak::kernels::device
