#include "kernels/device/start.cuh"
#include "kernels/machines/hopper/scoring_pipeline.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<IndexerOne>& args, const Place& place) {
  using M = IndexerOne::Machine;
  start<IndexerOne, hopper::ScoringPipeline<IndexerOne::Kernel<M>, M, IndexerOne>>(
      hopper::scoring_kernel<M, IndexerOne::Kernel, IndexerOne>, args, place, 640, 1);
}

void launch(const ArgsOf<IndexerTwo>& args, const Place& place) {
  using M = IndexerTwo::Machine;
  start<IndexerTwo, hopper::ScoringPipeline<IndexerTwo::Kernel<M>, M, IndexerTwo>>(
      hopper::scoring_kernel<M, IndexerTwo::Kernel, IndexerTwo>, args, place, 640, 1);
}

}  // namespace daybreak::kernels::device
