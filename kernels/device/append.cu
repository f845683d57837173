#include "kernels/device/start.cuh"
#include "kernels/machines/hopper/block_pipeline.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<LatentStore>& args, const Place& place) {
  using M = LatentStore::Machine;
  start<LatentStore, hopper::BlockPipeline<LatentStore::Kernel<M>, M, LatentStore>>(
      hopper::block_kernel<M, LatentStore::Kernel, LatentStore>, args, place, M::kThreads,
      LatentStore::kTuning.blocks);
}

}  // namespace daybreak::kernels::device
