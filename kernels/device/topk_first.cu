#include "kernels/device/start.cuh"
#include "kernels/machines/hopper/block_pipeline.cuh"

namespace daybreak::kernels::device {

void launch(const ArgsOf<TopkFirst>& args, const Place& place) {
  if (args.scores.cols <= int64_t{TopkShort::kRange} * args.splits) {
    return launch(ArgsOf<TopkShort>{.scores = args.scores,
                                    .contexts = args.contexts,
                                    .lists = args.lists,
                                    .positions = args.positions,
                                    .valid = args.valid,
                                    .tokens = args.tokens,
                                    .queries = args.queries,
                                    .splits = args.splits,
                                    .alone = args.alone},
                  place);
  }
  using M = TopkFirst::Machine;
  start<TopkFirst, hopper::BlockPipeline<TopkFirst::Kernel<M>, M, TopkFirst>>(
      hopper::block_kernel<M, TopkFirst::Kernel, TopkFirst>, args, place, M::kThreads,
      TopkFirst::kTuning.blocks);
}

}  // namespace daybreak::kernels::device
