#include "kernels/device/start_block.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<TableBuild>& args, const Place& place) {
  start_block<TableBuild>(args, place);
}

}  // namespace daybreak::kernels::device
