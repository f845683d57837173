#include "kernels/device/start.cuh"
#include "kernels/machines/hopper/block_pipeline.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<Combine>& args, const Place& place) {
  using M = Combine::Machine;
  start<Combine, hopper::BlockPipeline<Combine::Kernel<M>, M, Combine>>(
      hopper::block_kernel<M, Combine::Kernel, Combine>, args, place, M::kThreads,
      Combine::kTuning.blocks);
}

}  // namespace daybreak::kernels::device
