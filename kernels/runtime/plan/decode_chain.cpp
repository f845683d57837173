#include "kernels/runtime/plan/decode_chain.hpp"

#include <algorithm>

#include "configs/reader/errors.hpp"
#include "kernels/library/dsa/index_table.hpp"
#include "kernels/library/dsa/latent_append.hpp"
#include "kernels/library/dsa/mla_combine.hpp"
#include "kernels/library/dsa/query_prepare.hpp"
#include "kernels/library/dsa/sparse_mla.hpp"
#include "kernels/library/dsa/topk_merge.hpp"
#include "kernels/library/dsa/topk_partial.hpp"
#include "kernels/runtime/plan/chain_builder.hpp"

namespace daybreak::kernels {

void ChainBuilder::prepare_queries() {
  const int64_t tokens = w.tokens();
  Step step{.reads = {in.q_raw, in.angles, in.token_positions, in.latent_slots},
            .writes = {t.q},
            .steers = {in.token_positions, in.latent_slots},
            .floor = {.bytes = tokens * w.heads * dsa::kDim * 2}};
  bind<QueryPrepare>(
      step, tuning.rows,
      {.q_raw = dsa::matrix(in.q_raw, Format::bf16, tokens * in.padded_heads, dsa::kDim),
       .angles = angles(),
       .token_positions = dsa::row(in.token_positions, Format::i32, tokens),
       .slots = dsa::row(in.latent_slots, Format::i32, tokens),
       .q = queries(),
       .tokens = int(tokens),
       .heads = int(in.padded_heads),
       .interleaved = w.rope_interleaved});
  add(std::move(step), &DecodeOracle::query_prepare);
}

void ChainBuilder::append_latents() {
  const int64_t tokens = w.tokens();
  Step step{.reads = {in.latent_raw, in.rope_raw, in.latent_weight, in.angles, in.token_positions,
                      in.latent_slots},
            .writes = {in.latent_cache},
            .steers = {in.token_positions, in.latent_slots},
            .floor = {.bytes = tokens * (dsa::kDim * 2 + dsa::kRecordBytes)}};
  const auto append = [&]<template <class> class K>() {
    bind<K>(step, tuning.rows,
            {.latent = dsa::matrix(in.latent_raw, Format::bf16, tokens, dsa::kLatent),
             .k_rope = dsa::matrix(in.rope_raw, Format::bf16, tokens, dsa::kRope),
             .norm_weight = dsa::row(in.latent_weight, Format::f32, dsa::kLatent),
             .angles = angles(),
             .token_positions = dsa::row(in.token_positions, Format::i32, tokens),
             .slots = dsa::row(in.latent_slots, Format::i32, tokens),
             .cache = in.latents(),
             .tokens = int(tokens),
             .epsilon = float(w.rms_epsilon),
             .interleaved = w.rope_interleaved,
             .power_of_two = w.power_of_two_scales});
  };
  if (w.latent_form == CacheForm::fp8)
    append.template operator()<LatentAppend>();
  else
    append.template operator()<LatentAppendRows>();
  add(std::move(step), &DecodeOracle::latent_append);
}

void ChainBuilder::select() {
  const int64_t tokens = w.tokens();
  const auto contexts = dsa::row(in.contexts, Format::i32, w.batch);
  const auto lists = dsa::lists(t.lists, tokens * tuning.topk_splits);
  Step partial{
      .reads = {t.scores, in.contexts}, .writes = {t.lists}, .steers = {in.contexts}, .floor = {}};
  bind<TopkPartial>(partial, tuning.topk,
                    {.scores = dsa::score_rows(t.scores, tokens, t.score_positions),
                     .contexts = contexts,
                     .lists = lists,
                     .tokens = int(tokens),
                     .queries = int(w.queries),
                     .splits = tuning.topk_splits});
  add(std::move(partial), nullptr);
  Step merge{.reads = {t.lists},
             .writes = {t.positions, t.valid},
             .steers = {},
             .floor = {.bytes = tokens * dsa::kTopk * 4}};
  bind<TopkMerge>(merge, tuning.topk,
                  {.lists = lists,
                   .positions = dsa::positions(t.positions, tokens),
                   .valid = dsa::row(t.valid, Format::i32, tokens),
                   .tokens = int(tokens),
                   .splits = tuning.topk_splits});
  add(std::move(merge), &DecodeOracle::topk);
}

void ChainBuilder::build_table() {
  const int64_t tokens = w.tokens();
  Step step{.reads = {t.chosen, in.latent_requests, in.latent_blocks},
            .writes = {t.rows, t.stamps},
            .steers = {t.chosen, in.latent_requests, in.latent_blocks},
            .floor = {.bytes = tokens * dsa::kTopk * 8}};
  bind<IndexTable>(
      step, tuning.rows,
      {.positions = dsa::positions(t.chosen, tokens),
       .page_requests = dsa::page_requests(in.latent_requests, w.batch),
       .page_blocks = dsa::page_blocks(in.latent_blocks, int64_t(in.latent_pages->page.size())),
       .rows = dsa::positions(t.rows, tokens),
       .stamps = dsa::stamps(t.stamps, tokens),
       .tokens = int(tokens),
       .queries = int(w.queries),
       .page_tokens = int(w.latent_page)});
  add(std::move(step), &DecodeOracle::index_table);
}

void ChainBuilder::give_queries() {
  t.q = in.q_raw;
  t.index_weights = in.head_weights;
  t.index_q = in.add("given_index_q",
                     bytes_of(w.index_form == CacheForm::fp8 ? Format::e4m3 : Format::bf16,
                              w.tokens() * in.index_head_tile * dsa::kKey),
                     index_query_codes(w, in.index_head_tile));
}

void ChainBuilder::give_scores() {
  t.scores = in.add("given_scores", w.tokens() * t.score_positions * 4,
                    gaussian_f32(w.seed, Stream::scores, 0, 1));
}

void ChainBuilder::give_table() {
  std::vector<int32_t> rows, stamps;
  for (int64_t token = 0; token < w.tokens(); ++token) {
    const int64_t request = token / w.queries;
    const int64_t first = in.latent_pages->first[size_t(w.sequence_of(request))];
    for (int32_t p : in.get<int32_t>(t.chosen, dsa::kTopk, token * dsa::kTopk))
      rows.push_back(
          p < 0 ? -1
                : int32_t(in.latent_pages->page[size_t(first + p / w.latent_page)] * w.latent_page +
                          p % w.latent_page));
    stamps.insert(stamps.end(), {1, int32_t(request)});
  }
  in.put(t.rows, rows);
  in.put(t.stamps, stamps);
}

void ChainBuilder::attend() {
  const int64_t tokens = w.tokens(), rows = tokens * in.padded_heads;
  const int64_t splits = tuning.attention_splits;
  const int64_t record = w.latent_form == CacheForm::fp8 ? dsa::kRecordBytes : dsa::kDim * 2;
  int64_t keys = 0;
  for (int64_t token = 0; token < tokens; ++token) keys += std::min(w.topk, w.visible(token));
  Step step{.reads = {t.q, in.latent_cache, t.rows, t.stamps, in.latent_requests, t.chosen_count,
                      in.sinks},
            .writes = {t.out, t.lse, t.partial_out, t.partial_lse},
            .steers = {t.rows, t.stamps, in.latent_requests, t.chosen_count},
            .floor = {.bytes = keys * record + tokens * w.heads * (dsa::kDim + dsa::kLatent) * 2,
                      .bf16_macs = keys * w.heads * (dsa::kDim + dsa::kLatent)}};
  step.longest_read = int32_t(std::min(w.topk, w.longest()));  // keys of a token
  const auto valid = dsa::row(t.chosen_count, Format::i32, tokens);
  const auto sinks = dsa::column(in.sinks, Format::f32, in.padded_heads);
  const auto out = dsa::matrix(t.out, Format::bf16, rows, dsa::kLatent);
  const auto lse = dsa::column(t.lse, Format::f32, rows);
  const auto partial_out = dsa::matrix(t.partial_out, Format::f32, splits * rows, dsa::kLatent);
  const auto partial_lse = dsa::column(t.partial_lse, Format::f32, splits * rows);
  const auto args = [&]<class K>() {
    return typename K::Args{.q = queries(),
                            .cache = in.latents(),
                            .rows = dsa::positions(t.rows, tokens),
                            .stamps = dsa::stamps(t.stamps, tokens),
                            .requests = dsa::page_requests(in.latent_requests, w.batch),
                            .valid = valid,
                            .sinks = sinks,
                            .out = out,
                            .lse = lse,
                            .partial_out = partial_out,
                            .partial_lse = partial_lse,
                            .tokens = int(tokens),
                            .heads = int(in.padded_heads),
                            .splits = int(splits),
                            .has_sink = w.sinks,
                            .scale = float(w.softmax_scale * 1.4426950408889634)};
  };
  if (w.latent_form == CacheForm::fp8)
    bind_either<SparseMla, SparseMlaWide>(step, tuning.attention, args);
  else
    bind_either<SparseMlaRows, SparseMlaRowsWide>(step, tuning.attention, args);
  add(std::move(step), splits > 1 ? &DecodeOracle::partial_attention : &DecodeOracle::attention);
  if (splits == 1) return;

  Step combine{.reads = {t.partial_out, t.partial_lse, t.chosen_count, in.sinks},
               .writes = {t.out, t.lse},
               .steers = {t.chosen_count},
               .floor = {.bytes = tokens * w.heads * dsa::kLatent * 2}};
  bind<MlaCombine>(combine, tuning.rows,
                   {.partial_out = partial_out,
                    .partial_lse = partial_lse,
                    .valid = valid,
                    .sinks = sinks,
                    .out = out,
                    .lse = lse,
                    .tokens = int(tokens),
                    .heads = int(in.padded_heads),
                    .splits = int(splits),
                    .has_sink = w.sinks});
  add(std::move(combine), &DecodeOracle::attention);
}

ChainTensors add_decode_chain(Plan& plan, const DecodeInputs& inputs, const ChainTuning& tuning,
                              const ChainParts& parts, std::shared_ptr<DecodeOracle> oracle,
                              const std::string& prefix) {
  const bool fused = parts.form == SelectionForm::fused;
  ChainBuilder build(plan, inputs, tuning, prefix + (fused ? "fused." : ""), std::move(oracle));
  const auto prepare_attention = [&] {
    build.prepare_queries();
    build.append_latents();
  };
  if (parts.two_streams) build.use_stream(1);
  if (parts.after) build.wait_for(*parts.after);
  if (parts.prepare) {
    if (!parts.shared) build.prepare_index();
    if (!parts.two_streams) prepare_attention();
  } else {
    build.give_queries();
  }
  if (parts.shared) {
    build.share(*parts.shared);
  } else if (parts.reuse) {
    build.reuse(*parts.reuse);
  } else if (parts.selection) {
    if (!parts.scores)
      build.give_scores();
    else if (fused)
      build.score_and_select(parts.keep);
    else
      build.score();
    if (parts.topk && (!fused || !parts.scores)) build.select();
  }
  if (parts.table)
    build.build_table();
  else if (parts.attention)
    build.give_table();
  if (parts.two_streams) {
    const uint32_t table = build.last_step();
    build.use_stream(0);
    if (parts.prepare) prepare_attention();
    build.wait_for(table);
  }
  if (parts.attention) build.attend();
  return build.tensors();
}

}  // namespace daybreak::kernels
