#include "kernels/device/start.cuh"
#include "kernels/machines/hopper/block_pipeline.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<QueryRotate>& args, const Place& place) {
  using M = QueryRotate::Machine;
  start<QueryRotate, hopper::BlockPipeline<QueryRotate::Kernel<M>, M, QueryRotate>>(
      hopper::block_kernel<M, QueryRotate::Kernel, QueryRotate>, args, place, M::kThreads,
      QueryRotate::kTuning.blocks);
}

}  // namespace daybreak::kernels::device
