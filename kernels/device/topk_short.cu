#include "kernels/device/start.cuh"
#include "kernels/machines/hopper/block_pipeline.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<TopkShort>& args, const Place& place) {
  using M = TopkShort::Machine;
  start<TopkShort, hopper::BlockPipeline<TopkShort::Kernel<M>, M, TopkShort>>(
      hopper::block_kernel<M, TopkShort::Kernel, TopkShort>, args, place, M::kThreads,
      TopkShort::kTuning.blocks);
}

}  // namespace daybreak::kernels::device
