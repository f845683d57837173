// Starts kernels of rows and of selection, which differ in nothing but their binding.
#pragma once
#include "kernels/device/start.cuh"
#include "kernels/machines/hopper/block_pipeline.cuh"

namespace daybreak::kernels::device {

template <class Bound> void start_block(const ArgsOf<Bound>& args, const Place& place) {
  using M = typename Bound::Machine;
  using Pipeline = hopper::BlockPipeline<typename Bound::template Kernel<M>, M, Bound>;
  start<Bound, Pipeline>(hopper::block_kernel<M, Bound::template Kernel, Bound>, args, place,
                         M::kThreads, Bound::kTuning.blocks);
}

}  // namespace daybreak::kernels::device
