#include "kernels/device/start.cuh"
#include "kernels/machines/hopper/block_pipeline.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<IndexStore>& args, const Place& place) {
  using M = IndexStore::Machine;
  start<IndexStore, hopper::BlockPipeline<IndexStore::Kernel<M>, M, IndexStore>>(
      hopper::block_kernel<M, IndexStore::Kernel, IndexStore>, args, place, M::kThreads,
      IndexStore::kTuning.blocks);
}

}  // namespace daybreak::kernels::device
