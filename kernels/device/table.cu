#include "kernels/device/start.cuh"
#include "kernels/machines/hopper/block_pipeline.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<TableBuild>& args, const Place& place) {
  using M = TableBuild::Machine;
  start<TableBuild, hopper::BlockPipeline<TableBuild::Kernel<M>, M, TableBuild>>(
      hopper::block_kernel<M, TableBuild::Kernel, TableBuild>, args, place, M::kThreads,
      TableBuild::kTuning.blocks);
}

}  // namespace daybreak::kernels::device
