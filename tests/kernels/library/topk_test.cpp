// Exact top-k in two stages, and fused with scoring, against the total order of the oracle.
// Selections must be equal, not close: the order leaves no freedom.
#include "ref/ops/topk.hpp"
#include "kernels/library/dsa/indexer.hpp"
#include "kernels/library/dsa/indexer_topk.hpp"
#include "kernels/library/dsa/topk_merge.hpp"
#include "kernels/library/dsa/topk_partial.hpp"
#include "tests/kernels/library/index_scene.hpp"

namespace daybreak::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// What a token's selection and count must be, from its visible scores.
void expect_selection(const Scene& scene, uint16_t chosen, uint16_t valid, int64_t token,
                      std::span<const float> visible) {
  const auto want = ref::topk(visible, dsa::kTopk);
  EXPECT_TRUE(
      passes(ref::compare_exact("selection of token " + std::to_string(token),
                                scene.get<int32_t>(chosen, dsa::kTopk, token * dsa::kTopk), want)));
  const auto count = std::count_if(want.begin(), want.end(), [](int32_t p) { return p >= 0; });
  EXPECT_EQ(scene.get<int32_t>(valid, 1, token)[0], count) << "token " << token;
}

// Two stages over `rows` of scores; each token is a request of its own.
void check_two_stages(const std::vector<std::vector<float>>& rows, int splits) {
  SCOPED_TRACE(::testing::Message() << "splits " << splits);
  Scene scene;
  const auto tokens = int64_t(rows.size());
  int64_t positions = 1;
  std::vector<int32_t> contexts;
  for (const auto& row : rows) {
    contexts.push_back(int32_t(row.size()));
    positions = std::max(positions, dsa::padded_context(int64_t(row.size())));
  }
  const uint16_t scores = scene.garbage<float>("scores", std::max<int64_t>(tokens, 1) * positions);
  const std::vector<float> alluring(size_t(positions), kInf);  // what lies past a row must not win
  for (int64_t t = 0; t < tokens; ++t) {
    auto at = scene.bindings[scores].base.value + uint64_t(t * positions) * 4;
    scene.memory.write(Address(at), std::as_bytes(std::span(alluring)));
    scene.memory.write(Address(at), std::as_bytes(std::span(rows[size_t(t)])));
  }
  const uint16_t lengths = scene.put("contexts", contexts);
  const uint16_t lists =
      scene.garbage<Ranked>("lists", std::max<int64_t>(tokens * splits, 1) * dsa::kTopk);
  const uint16_t chosen =
      scene.garbage<int32_t>("positions", std::max<int64_t>(tokens, 1) * dsa::kTopk);
  const uint16_t valid = scene.garbage<int32_t>("valid", std::max<int64_t>(tokens, 1));
  on_host<TopkPartial>(scene, [&](auto& a) {
    a.scores = dsa::score_rows(scores, tokens, positions);
    a.contexts = dsa::row(lengths, Format::i32, tokens);
    a.lists = dsa::lists(lists, tokens * splits);
    a.tokens = int(tokens);
    a.splits = splits;
  });
  on_host<TopkMerge>(scene, [&](auto& a) {
    a.lists = dsa::lists(lists, tokens * splits);
    a.positions = dsa::positions(chosen, tokens);
    a.valid = dsa::row(valid, Format::i32, tokens);
    a.tokens = int(tokens);
    a.splits = splits;
  });
  for (int64_t t = 0; t < tokens; ++t) expect_selection(scene, chosen, valid, t, rows[size_t(t)]);
}

TEST(TopkTwoStages, RandomScoresOfEveryLength) {
  Random random(1);
  for (int splits : {1, 2, 4, 5, 8}) {
    std::vector<std::vector<float>> rows;
    for (int64_t n : {0, 1, 63, 2047, 2048, 2049, 4097, 9001}) rows.push_back(random.normals(n));
    check_two_stages(rows, splits);
  }
}

// More ties at the threshold than a bin holds (sglang PR#30645, #30512), and a set that changes from run to
// run or from rank to rank (jundot/omlx PR#2243): every cut of the row gives the lowest positions.
TEST(TopkTwoStages, Ties) {
  Random random(2);
  std::vector<float> few(8320, 0.0f), coarse = random.normals(6000);
  for (int i = 0; i < 100; ++i) few[size_t(random.below(8320))] = 1 + random.uniform(0, 1);
  for (float& x : coarse) x = std::round(x);
  std::vector<float> zeros(5000, 0.0f), signs(5000, 0.0f);
  for (size_t i = 0; i < signs.size(); i += 2) signs[i] = -0.0f;
  for (int splits : {1, 3, 7}) check_two_stages({few, coarse, zeros, signs, {1, 1, 1}}, splits);
}

// Scores that differ below the precision of a coarse bin (sglang #35257).
TEST(TopkTwoStages, ScoresWithinOneCoarseBin) {
  Random random(4);
  std::vector<float> near(6000), neighbours(4100);
  for (float& x : near) x = 1 + float(random.below(8000)) * 0x1p-23f;  // one fp16 value
  for (size_t i = 0; i < neighbours.size(); ++i)
    neighbours[i] = -1 - float(i * 2741 % neighbours.size()) * 0x1p-23f;
  for (int splits : {1, 2, 5}) check_two_stages({near, neighbours}, splits);
}

// NaN bit patterns that become indices (vllm #49896).
TEST(TopkTwoStages, NotANumberAndInfinities) {
  Random random(3);
  std::vector<float> mixed = random.normals(7000);
  for (float& x : mixed) switch (random.below(8)) {
      case 0: x = kNan; break;
      case 1: x = -kInf; break;
      case 2: x = kInf; break;
      case 3: x = -kNan; break;
      default: break;
    }
  const std::vector<float> none(3000, kNan), low(3000, -kInf), high(3000, kInf);
  for (int splits : {1, 4}) check_two_stages({mixed, none, low, high}, splits);
}

TEST(TopkTwoStages, NoTokens) { check_two_stages({}, 3); }

template <int kHeads, int kQueries, class Form> void check_fused(IndexScene& scene, int splits) {
  SCOPED_TRACE(::testing::Message() << "queries " << scene.queries << " splits " << splits);
  const int64_t tokens = std::max<int64_t>(scene.tokens(), 1);
  const uint16_t lists = scene.garbage<Ranked>("lists", tokens * splits * dsa::kTopk);
  const uint16_t chosen = scene.garbage<int32_t>("positions", tokens * dsa::kTopk);
  const uint16_t valid = scene.garbage<int32_t>("valid", tokens);
  on_host<IndexerTopk<kHeads, kQueries, Form>::template On>(scene, [&](auto& a) {
    scene.inputs(a, splits);
    a.lists = dsa::lists(lists, tokens * splits);
    a.positions = dsa::positions(chosen, tokens);
    a.valid = dsa::row(valid, Format::i32, tokens);
  });
  for (int64_t t = 0; t < scene.tokens(); ++t)
    expect_selection(scene, chosen, valid, t, scene.oracle(t));
}

TEST(FusedSelection, AgreesWithOracleForManySplits) {
  for (int splits : {1, 2, 3, 8}) {
    IndexScene scene({0, 1, 300, 4500}, 1, 64, 64, true, uint64_t(splits));
    check_fused<64, 1, dsa::Fp8>(scene, splits);
  }
}

TEST(FusedSelection, SeveralQueryTokens) {
  IndexScene two({2, 0, 2500}, 2, 32, 32, true, 20);
  check_fused<32, 2, dsa::Fp8>(two, 3);
  IndexScene five({5, 64, 2300}, 5, 7, 32, true, 21);
  check_fused<32, 8, dsa::Fp8>(five, 2);
}

TEST(FusedSelection, EqualAndSpecialScores) {
  IndexScene scene({5000}, 1, 64, 64, true, 22);
  for (int p = 0; p < 5000; ++p)
    if (p % 50 != 0) scene.set_scale(0, p, 0);  // 4900 scores of +0 or -0
  scene.set_scale(0, 77, kNan);
  scene.set_scale(0, 4242, kInf);
  check_fused<64, 1, dsa::Fp8>(scene, 3);
}

// Batches without work, and of as many requests as cores or more (DeepGEMM PR#344, #353, #354; vllm #51970;
// sglang #26541): nothing past the last context is read, which Host would refuse.
TEST(FusedSelection, EmptyRequestsInWholeBatches) {
  for (int requests : {1, 31, 32, 33, 64}) {
    IndexScene none(std::vector<int32_t>(size_t(requests), 0), 1, 64, 64, true, 24);
    check_fused<64, 1, dsa::Fp8>(none, 2);
  }
  std::vector<int32_t> one(33, 0);
  one[32] = 70;
  IndexScene last(one, 1, 64, 64, true, 25);
  check_fused<64, 1, dsa::Fp8>(last, 2);
}

TEST(FusedSelection, NoRequests) {
  IndexScene scene({}, 1, 64, 64, true, 23);
  check_fused<64, 1, dsa::Fp8>(scene, 2);
}

}  // namespace
}  // namespace daybreak::kernels
