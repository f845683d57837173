#include "kernels/runtime/plan/tuning.hpp"

#include <algorithm>

#include "kernels/library/dsa/layouts.hpp"

namespace daybreak::kernels {
namespace {

constexpr int64_t kIndexStep = 256;     // keys of one indexer step (one query token)
constexpr int64_t kLongestTask = 512;   // steps of one task: bounds the program's memory
constexpr int64_t kTopkRange = 2048;    // scores one partial top-k sorts at least
constexpr int64_t kAttentionStep = 64;  // rows of one attention step

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Splits so that `units` x splits tasks cover the cores, with at least `least` of work each.
int splits(int64_t cores, int64_t units, int64_t work, int64_t least) {
  const int64_t most = std::max<int64_t>(ceil_div(work, least), 1);
  return int(std::clamp<int64_t>(cores / std::max<int64_t>(units, 1), 1, most));
}

}  // namespace

std::vector<Tuning> attention_tunings(int64_t keys, const isa::Capabilities& chip,
                                      Pairing pairing) {
  // Three slots let a full step of scores run ahead of the accumulation (prototype, Record replay).
  std::vector<Tuning> out = {{.ring = 3, .boards = 2, .score_ahead = dsa::kDim},
                             {.ring = 2, .boards = 2, .score_ahead = 320},
                             {.ring = 2, .boards = 1, .score_ahead = 0},
                             {.ring = 1, .boards = 1, .score_ahead = 0}};
  if (keys > kAttentionStep)
    out.insert(out.begin(), {.ring = 2, .boards = 2, .score_ahead = dsa::kDim, .wide = true});
  for (Tuning& tuning : out) tuning.pair = pairing != Pairing::off && chip.cores > 1;
  return out;
}

ChainTuning tuning_for(const Workload& w, const isa::Capabilities& chip, Pairing pairing) {
  ChainTuning t;
  const int64_t groups = w.tokens() * (dsa::padded_heads(w.heads) / dsa::kHeadTile);
  t.index_splits = std::max(splits(chip.cores, w.batch, w.longest(), kIndexStep),
                            int(ceil_div(ceil_div(w.longest(), kIndexStep), kLongestTask)));
  t.topk_splits = splits(chip.cores, w.tokens(), w.longest(), kTopkRange);
  t.attention_splits = splits(chip.cores, groups, std::min(w.topk, w.longest()), kAttentionStep);
  t.attention =
      attention_tunings(ceil_div(std::min(w.topk, w.longest()), t.attention_splits), chip, pairing);
  t.indexer = {{.ring = 3, .boards = 2, .score_ahead = 1},
               {.ring = 2, .boards = 2, .score_ahead = 1},
               {.ring = 2, .boards = 1, .score_ahead = 0},
               {.ring = 1, .boards = 1, .score_ahead = 0}};
  t.topk = {{.ring = 2, .boards = 1, .score_ahead = 0}, {.ring = 1, .boards = 1, .score_ahead = 0}};
  t.rows = {{.ring = 1, .boards = 1, .score_ahead = 0}};
  return t;
}

}  // namespace daybreak::kernels
