#include "kernels/device/start_block.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<Combine>& args, const Place& place) { start_block<Combine>(args, place); }

}  // namespace daybreak::kernels::device
