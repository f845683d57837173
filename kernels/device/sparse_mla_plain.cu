#include "kernels/device/start.cuh"
#include "kernels/machines/hopper/attention_pipeline.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<SparseMlaPlain>& args, const Place& place) {
  using M = SparseMlaPlain::Machine;
  start<SparseMlaPlain, hopper::AttentionPipeline<SparseMlaPlain::Kernel<M>, M, SparseMlaPlain>>(
      hopper::attention_kernel<M, SparseMlaPlain::Kernel, SparseMlaPlain>, args, place, 384, 1);
}

}  // namespace daybreak::kernels::device
