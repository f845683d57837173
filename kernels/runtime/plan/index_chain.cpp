// The index stages of the decode chain: preparation, scoring, fused scoring and selection.
#include "kernels/library/dsa/merge_add.hpp"
#include "kernels/runtime/plan/chain_builder.hpp"
#include "kernels/runtime/plan/index_steps.hpp"

namespace daybreak::kernels {
namespace {

IndexSteps variant(const DecodeInputs& in) {
  const int queries = int(in.workload.queries);
  if (in.workload.index_form == CacheForm::bf16) return index_steps_bf16_64(queries);
  return in.index_head_tile == 64 ? index_steps_fp8_64(queries) : index_steps_fp8_32(queries);
}

// Fills what scoring reads, for either launch form.
template <class Args>
void scoring_inputs(Args& a, const DecodeInputs& in, const ChainTensors& t, int splits) {
  const Workload& w = in.workload;
  const int64_t rows = w.tokens() * in.index_head_tile;
  a.q = dsa::matrix(t.index_q, w.index_form == CacheForm::fp8 ? Format::e4m3 : Format::bf16, rows,
                    dsa::kKey);
  a.weights = dsa::column(t.index_weights, Format::f32, rows);
  a.keys = in.index_codes();
  a.key_scales = in.index_scales();
  a.page_requests = dsa::page_requests(in.index_requests, w.batch);
  a.page_blocks = dsa::page_blocks(in.index_blocks, int64_t(in.index_pages->page.size()));
  a.contexts = dsa::row(in.contexts, Format::i32, w.batch);
  a.requests = int(w.batch);
  a.queries = int(w.queries);
  a.splits = splits;
}

}  // namespace

void ChainBuilder::prepare_index() {
  const int64_t tokens = w.tokens(), rows = tokens * in.index_head_tile;
  const bool fp8 = w.index_form == CacheForm::fp8;
  Step step{.reads = {in.index_q_raw, in.index_k_raw, in.head_weights, in.norm_weight, in.norm_bias,
                      in.angles, in.token_positions, in.index_slots},
            .writes = {t.index_q, t.index_weights, in.index_cache},
            .steers = {in.token_positions, in.index_slots},
            .floor = {.bytes = tokens * (w.index_heads + 1) * dsa::kKey * 2}};
  IndexerPrepareOf<Record, 64, dsa::Fp8>::Args args{
      .q_raw = dsa::matrix(in.index_q_raw, Format::bf16, rows, dsa::kKey),
      .k_raw = dsa::matrix(in.index_k_raw, Format::bf16, tokens, dsa::kKey),
      .head_weights = dsa::column(in.head_weights, Format::f32, rows),
      .norm_weight = dsa::row(in.norm_weight, Format::f32, dsa::kKey),
      .norm_bias = dsa::row(in.norm_bias, Format::f32, dsa::kKey),
      .angles = angles(),
      .token_positions = dsa::row(in.token_positions, Format::i32, tokens),
      .slots = dsa::row(in.index_slots, Format::i32, tokens),
      .q = dsa::matrix(t.index_q, fp8 ? Format::e4m3 : Format::bf16, rows, dsa::kKey),
      .weights = dsa::column(t.index_weights, Format::f32, rows),
      .keys = in.index_codes(),
      .key_scales = in.index_scales(),
      .tokens = int(tokens),
      .model_heads = int(w.index_heads),
      .epsilon = float(w.index_norm_epsilon),
      .interleaved = w.index_interleaved,
      .power_of_two = w.power_of_two_scales};
  variant(in).prepare(step, tuning.rows, args);
  add(std::move(step), &DecodeOracle::index_prepare);
}

Step ChainBuilder::scoring_step() const {
  int64_t keys = 0, pairs = 0;
  for (int64_t r = 0; r < w.batch; ++r) keys += w.context_of(r);
  for (int64_t token = 0; token < w.tokens(); ++token) pairs += w.visible(token);
  const bool fp8 = w.index_form == CacheForm::fp8;
  const int64_t macs = pairs * w.index_heads * dsa::kKey;
  return {.reads = {t.index_q, t.index_weights, in.index_cache, in.index_requests, in.index_blocks,
                    in.contexts},
          .writes = {},
          .steers = {in.index_requests, in.index_blocks, in.contexts},
          .floor = {.bytes = keys * (fp8 ? dsa::kKey + 4 : dsa::kKey * 2),
                    .bf16_macs = fp8 ? 0 : macs,
                    .fp8_macs = fp8 ? macs : 0}};
}

void ChainBuilder::score() {
  Step step = scoring_step();
  step.writes = {t.scores};
  IndexerArgs args;
  scoring_inputs(args, in, t, tuning.index_splits);
  args.scores = dsa::score_columns(t.scores, w.tokens(), t.score_positions);
  args.positions = int(t.score_positions);
  variant(in).score(step, tuning.indexer, args);
  add(std::move(step), &DecodeOracle::scores);
}

void ChainBuilder::score_and_select(std::optional<uint16_t> keep) {
  Step step = scoring_step();
  step.reads.push_back(t.lists);
  step.writes = {t.lists, t.positions, t.valid};
  step.shared_semaphores = uint32_t(w.batch);
  IndexerTopkArgs args;
  scoring_inputs(args, in, t, tuning.index_splits);
  args.lists = dsa::lists(t.lists, w.tokens() * tuning.index_splits);
  args.positions = dsa::positions(t.positions, w.tokens());
  args.valid = dsa::row(t.valid, Format::i32, w.tokens());
  if (keep) {
    args.keeps = true;
    args.kept = dsa::lists(*keep, w.tokens());
    step.writes.push_back(*keep);
  }
  variant(in).score_and_select(step, tuning.indexer, args);
  add(std::move(step), &DecodeOracle::fused_selection);
}

void ChainBuilder::reuse(const KeptLists& kept) {
  const uint16_t sources = in.add("list_sources", w.batch * 4);
  const uint16_t listed = in.add("listed", w.batch * 4);
  in.put(sources, kept.sources);
  in.put(listed, kept.listed);
  const int64_t tokens = w.tokens();
  Step step{.reads = {kept.lists, sources, listed, in.contexts},
            .writes = {t.positions, t.valid},
            .steers = {sources, listed, in.contexts},
            .floor = {.bytes = tokens * dsa::kTopk * 12}};
  bind<MergeAdd>(step, tuning.topk,
                 {.lists = dsa::lists(kept.lists, kept.rows),
                  .sources = dsa::row(sources, Format::i32, w.batch),
                  .listed = dsa::row(listed, Format::i32, w.batch),
                  .contexts = dsa::row(in.contexts, Format::i32, w.batch),
                  .positions = dsa::positions(t.positions, tokens),
                  .valid = dsa::row(t.valid, Format::i32, tokens),
                  .tokens = int(tokens),
                  .queries = int(w.queries)});
  add(std::move(step), nullptr);
}

}  // namespace daybreak::kernels
