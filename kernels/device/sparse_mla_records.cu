#include "kernels/device/start.cuh"
#include "kernels/machines/hopper/attention_pipeline.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<SparseMlaRecords>& args, const Place& place) {
  using M = SparseMlaRecords::Machine;
  start<SparseMlaRecords,
        hopper::AttentionPipeline<SparseMlaRecords::Kernel<M>, M, SparseMlaRecords>>(
      hopper::attention_kernel<M, SparseMlaRecords::Kernel, SparseMlaRecords>, args, place, 384, 1);
}

}  // namespace daybreak::kernels::device
