#include "kernels/device/start.cuh"
#include "kernels/machines/hopper/block_pipeline.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<TopkSecond>& args, const Place& place) {
  using M = TopkSecond::Machine;
  start<TopkSecond, hopper::BlockPipeline<TopkSecond::Kernel<M>, M, TopkSecond>>(
      hopper::block_kernel<M, TopkSecond::Kernel, TopkSecond>, args, place, M::kThreads,
      TopkSecond::kTuning.blocks);
}

}  // namespace daybreak::kernels::device
