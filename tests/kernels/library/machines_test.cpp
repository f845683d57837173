// Every DSA kernel on two chips (on_chips.hpp).
#include "kernels/library/dsa/index_table.hpp"
#include "kernels/library/dsa/indexer.hpp"
#include "kernels/library/dsa/indexer_prepare.hpp"
#include "kernels/library/dsa/indexer_topk.hpp"
#include "kernels/library/dsa/latent_append.hpp"
#include "kernels/library/dsa/mla_combine.hpp"
#include "kernels/library/dsa/query_prepare.hpp"
#include "kernels/library/dsa/sparse_mla.hpp"
#include "kernels/library/dsa/topk_merge.hpp"
#include "kernels/library/dsa/topk_partial.hpp"
#include "tests/kernels/library/index_scene.hpp"
#include "tests/kernels/library/mla_scene.hpp"
#include "tests/kernels/library/on_chips.hpp"

namespace daybreak::kernels {
namespace {

const Tunings kScoring{{.ring = 3, .boards = 2, .score_ahead = 1}, {.ring = 2, .boards = 1}};
// The split chip holds outputs in vector scratch, where raw records, their BF16 form and outputs
// leave room for one slot, and BF16 rows for two.
const Tunings kRecords{{.ring = 3, .boards = 2, .score_ahead = 576}, {.ring = 1, .boards = 1}};
const Tunings kRows{{.ring = 3, .boards = 2, .score_ahead = 576},
                    {.ring = 2, .boards = 2, .score_ahead = 320}};

template <int kHeads, int kQueries, class Form>
void check_index(const std::vector<int32_t>& contexts, int queries, int heads, int splits) {
  SCOPED_TRACE(::testing::Message() << "queries " << queries << " heads " << heads);
  IndexScene scene(contexts, queries, heads, kHeads, Form::kQuantised, 31);
  const int64_t tokens = scene.tokens();
  const uint16_t lists = scene.garbage<Ranked>("lists", tokens * splits * dsa::kTopk);
  const uint16_t chosen = scene.garbage<int32_t>("positions", tokens * dsa::kTopk);
  const uint16_t valid = scene.garbage<int32_t>("valid", tokens);
  expect_same<Indexer<kHeads, kQueries, Form>::template On>(
      scene,
      [&](auto& a) {
        scene.inputs(a, splits);
        a.scores = dsa::score_columns(scene.scores, tokens, scene.positions);
        a.positions = int(scene.positions);
      },
      kScoring);
  expect_same<IndexerTopk<kHeads, kQueries, Form>::template On>(
      scene,
      [&](auto& a) {
        scene.inputs(a, splits);
        a.lists = dsa::lists(lists, tokens * splits);
        a.positions = dsa::positions(chosen, tokens);
        a.valid = dsa::row(valid, Format::i32, tokens);
      },
      kScoring);
}

TEST(Machines, IndexerAndFusedSelection) {
  check_index<64, 1, dsa::Fp8>({0, 700, 2500}, 1, 64, 2);
  check_index<64, 8, dsa::Fp8>({8, 300}, 8, 64, 2);
  check_index<32, 2, dsa::Fp8>({300}, 2, 32, 1);
  check_index<64, 5, dsa::Plain>({5, 400}, 5, 64, 2);
}

TEST(Machines, TwoStageSelection) {
  Scene scene;
  Random random(32);
  const int64_t tokens = 2, positions = 9216, splits = 4;
  const uint16_t scores = scene.put("scores", random.normals(tokens * positions));
  const uint16_t contexts = scene.put("contexts", std::vector<int32_t>{9001, 10});
  const uint16_t lists = scene.garbage<Ranked>("lists", tokens * splits * dsa::kTopk);
  const uint16_t chosen = scene.garbage<int32_t>("positions", tokens * dsa::kTopk);
  const uint16_t valid = scene.garbage<int32_t>("valid", tokens);
  const auto partial = [&](auto& a) {
    a.scores = dsa::score_rows(scores, tokens, positions);
    a.contexts = dsa::row(contexts, Format::i32, tokens);
    a.lists = dsa::lists(lists, tokens * splits);
    a.tokens = int(tokens);
    a.splits = int(splits);
  };
  expect_same<TopkPartial>(scene, partial);
  on_host<TopkPartial>(scene, partial);
  expect_same<TopkMerge>(scene, [&](auto& a) {
    a.lists = dsa::lists(lists, tokens * splits);
    a.positions = dsa::positions(chosen, tokens);
    a.valid = dsa::row(valid, Format::i32, tokens);
    a.tokens = int(tokens);
    a.splits = int(splits);
  });
}

TEST(Machines, AttentionAndCombine) {
  for (bool fp8 : {true, false})
    for (int splits : {1, 3}) {
      SCOPED_TRACE(::testing::Message() << "fp8 " << fp8 << " splits " << splits);
      MlaScene scene({.valid = {0, 200}, .splits = splits, .fp8 = fp8, .sink = true, .seed = 33});
      const auto fill = [&](auto& a) { scene.attention(a); };
      if (fp8)
        expect_same<SparseMla>(scene, fill, kRecords);
      else
        expect_same<SparseMlaRows>(scene, fill, kRows);
      if (splits == 1) continue;
      if (fp8)
        on_host<SparseMla>(scene, fill);
      else
        on_host<SparseMlaRows>(scene, fill);
      expect_same<MlaCombine>(scene, [&](auto& a) { scene.results(a); });
    }
}

// Wide steps fit the direct chip alone; where there is no link the partners gather for themselves.
TEST(Machines, PairsAndWideSteps) {
  MlaScene scene({.valid = {0, 300}, .heads = 128, .splits = 2, .seed = 36});
  const auto fill = [&](auto& a) { scene.attention(a); };
  const Tuning wide{.ring = 2, .boards = 2, .score_ahead = dsa::kDim, .wide = true, .pair = true};
  expect_same_on<SparseMlaWide>(scene, fill, wide, direct_chip(), 4);
  Tunings pairs = kRecords;
  pairs.direct.pair = pairs.split.pair = true;
  expect_same<SparseMla>(scene, fill, pairs);

  typename SparseMla<Record>::Args args{};
  fill(args);
  for (const bool link : {true, false}) {
    isa::Capabilities chip = direct_chip();
    chip.pair_link = link;
    std::array<int64_t, 3> rows{};    // by sharing
    for (uint32_t task : {4u, 5u}) {  // token 1, split 0
      const auto program = record_task<SparseMla>(
          args, pairs.direct, task,
          {.capabilities = chip, .memory = scene.memory, .bindings = scene.bindings});
      for (const auto& e : program.code)
        if (const auto* g = std::get_if<isa::Gather>(&e.instruction))
          rows[size_t(g->sharing)] += g->to.rows;
    }
    EXPECT_EQ(rows[1], link ? 192 : 0);  // each row of 192 is asked for once
    EXPECT_EQ(rows[2], rows[1]);
    EXPECT_EQ(rows[0], link ? 0 : 2 * 192);
  }
}

TEST(Machines, IndexTable) {
  Scene scene;
  Random random(34);
  const std::vector<int32_t> contexts{300, 0, 5000};
  const Pages pages(random, contexts, 61);
  std::vector<int32_t> selected(3 * dsa::kTopk, -1);
  for (int i = 0; i < 300; ++i) selected[size_t(i)] = i;
  for (int i = 0; i < dsa::kTopk; ++i) selected[size_t(2 * dsa::kTopk + i)] = 2 * i;
  const uint16_t chosen = scene.put("positions", selected),
                 requests = scene.put("requests", pages.requests);
  const uint16_t blocks = scene.put("blocks", pages.blocks);
  const uint16_t rows = scene.garbage<int32_t>("rows", 3 * dsa::kTopk);
  const uint16_t stamps = scene.garbage<int32_t>("stamps", 6);
  expect_same<IndexTable>(scene, [&](auto& a) {
    a.positions = dsa::positions(chosen, 3);
    a.page_requests = dsa::page_requests(requests, 3);
    a.page_blocks = dsa::page_blocks(blocks, int64_t(pages.blocks.size()));
    a.rows = dsa::positions(rows, 3);
    a.stamps = dsa::stamps(stamps, 3);
    a.tokens = 3;
    a.page_tokens = 61;
  });
}

// Three new tokens, the second of which is padding.
struct NewTokens : Scene {
  Random random{35};
  uint16_t angles = put("angles", random.normals(10 * 64));
  uint16_t places = put("token positions", std::vector<int32_t>{3, 1 << 30, 9});
  uint16_t slots = put("slots", std::vector<int32_t>{70, -1, 5});
  template <class Args> void inputs(Args& a) const {
    a.angles = dsa::matrix(angles, Format::f32, 10, 64);
    a.token_positions = dsa::row(places, Format::i32, 3);
    a.slots = dsa::row(slots, Format::i32, 3);
    a.tokens = 3;
  }
};

TEST(Machines, IndexerPrepare) {
  NewTokens s;
  const uint16_t q_raw = s.put("q raw", s.random.bf16s(3 * 64 * 128));
  const uint16_t k_raw = s.put("k raw", s.random.bf16s(3 * 128));
  const uint16_t head_weights = s.put("head weights", s.random.normals(3 * 64));
  const uint16_t weight = s.put("weight", s.random.normals(128)),
                 bias = s.put("bias", s.random.normals(128));
  const uint16_t q = s.garbage<uint16_t>("q", 3 * 64 * 128),
                 weights = s.garbage<float>("weights", 3 * 64);
  const uint16_t keys = s.garbage<uint8_t>("keys", 2 * dsa::kIndexPage * 256);
  const auto fill = [&](bool fp8) {
    return [&, fp8](auto& a) {
      s.inputs(a);
      a.q_raw = dsa::matrix(q_raw, Format::bf16, 3 * 64, 128);
      a.k_raw = dsa::matrix(k_raw, Format::bf16, 3, 128);
      a.head_weights = dsa::column(head_weights, Format::f32, 3 * 64);
      a.norm_weight = dsa::row(weight, Format::f32, 128);
      a.norm_bias = dsa::row(bias, Format::f32, 128);
      a.q = dsa::matrix(q, fp8 ? Format::e4m3 : Format::bf16, 3 * 64, 128);
      a.weights = dsa::column(weights, Format::f32, 3 * 64);
      a.keys = fp8 ? dsa::index_codes(keys, 2) : dsa::index_rows(keys, 2);
      a.key_scales = dsa::index_scales(keys, 2);
    };
  };
  expect_same<IndexerPrepare<64>::On>(s, fill(true));
  expect_same<IndexerPrepare<64, dsa::Plain>::On>(s, fill(false));
}

TEST(Machines, LatentAppendAndQueries) {
  NewTokens s;
  const uint16_t latent = s.put("latent", s.random.bf16s(3 * 512)),
                 rope = s.put("rope", s.random.bf16s(3 * 64));
  const uint16_t weight = s.put("weight", s.random.normals(512));
  const uint16_t cache = s.garbage<uint8_t>("cache", 5 * 16 * 1152);
  const auto fill = [&](bool fp8) {
    return [&, fp8](auto& a) {
      s.inputs(a);
      a.latent = dsa::matrix(latent, Format::bf16, 3, 512);
      a.k_rope = dsa::matrix(rope, Format::bf16, 3, 64);
      a.norm_weight = dsa::row(weight, Format::f32, 512);
      a.cache = fp8 ? dsa::latent_records(cache, 5, 16) : dsa::latent_rows(cache, 5, 16);
    };
  };
  expect_same<LatentAppend>(s, fill(true));
  expect_same<LatentAppendRows>(s, fill(false));
  const uint16_t q_raw = s.put("q raw", s.random.bf16s(3 * 64 * 576));
  const uint16_t q = s.garbage<uint16_t>("q", 3 * 64 * 576);
  expect_same<QueryPrepare>(s, [&](auto& a) {
    s.inputs(a);
    a.q_raw = dsa::matrix(q_raw, Format::bf16, 3 * 64, 576);
    a.q = dsa::matrix(q, Format::bf16, 3 * 64, 576);
  });
}

}  // namespace
}  // namespace daybreak::kernels
