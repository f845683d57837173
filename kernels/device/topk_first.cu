#include "kernels/device/start_block.cuh"

namespace daybreak::kernels::device {
namespace {

// The same arguments for another binding of the kernel.
template <class Bound> ArgsOf<Bound> rebound(const ArgsOf<TopkFirst>& args) {
  return {.scores = args.scores,
          .contexts = args.contexts,
          .lists = args.lists,
          .positions = args.positions,
          .valid = args.valid,
          .tokens = args.tokens,
          .queries = args.queries,
          .splits = args.splits,
          .alone = args.alone};
}

}  // namespace

void launch(const ArgsOf<TopkFirst>& args, const Place& place) {
  const int64_t range = (args.scores.cols + args.splits - 1) / args.splits;
  const bool many = int64_t(args.tokens) * args.splits > place.multiprocessors;
  if (range <= 8192 && many) return launch(rebound<TopkMany>(args), place);
  if (range <= 8192) return launch(rebound<TopkFew>(args), place);
  if (range > 16384) return launch(rebound<TopkLong>(args), place);
  start_block<TopkFirst>(args, place);
}

}  // namespace daybreak::kernels::device
