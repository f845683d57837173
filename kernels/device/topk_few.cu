#include "kernels/device/start_block.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<TopkFew>& args, const Place& place) { start_block<TopkFew>(args, place); }

}  // namespace daybreak::kernels::device
