#include "kernels/device/start.cuh"
#include "kernels/machines/hopper/block_pipeline.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<TopkLong>& args, const Place& place) {
  using M = TopkLong::Machine;
  start<TopkLong, hopper::BlockPipeline<TopkLong::Kernel<M>, M, TopkLong>>(
      hopper::block_kernel<M, TopkLong::Kernel, TopkLong>, args, place, M::kThreads,
      TopkLong::kTuning.blocks);
}

}  // namespace daybreak::kernels::device
