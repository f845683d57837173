// Reused selections: an earlier list with the positions appended since, against the total order over
// scores in which those come first.
#include "kernels/library/dsa/merge_add.hpp"

#include "kernels/library/dsa/indexer_topk.hpp"
#include "kernels/library/dsa/topk_partial.hpp"
#include "ref/ops/topk.hpp"
#include "tests/kernels/library/index_scene.hpp"
#include "tests/kernels/library/on_chips.hpp"

namespace daybreak::kernels {
namespace {

constexpr float kFirst = std::numeric_limits<float>::infinity();

// A step of `queries` tokens over requests whose lists were made from `scores` (one row a request), the
// last of its tokens seeing `added` positions more.
struct Reuse {
  Scene scene;
  std::vector<std::vector<float>> scores;
  std::vector<int> added;
  int queries = 1;
  uint16_t lists = 0, sources = 0, listed = 0, contexts = 0, positions = 0, valid = 0;

  Reuse(std::vector<std::vector<float>> rows, std::vector<int> more, int tokens)
      : scores(std::move(rows)), added(std::move(more)), queries(tokens) {
    const auto requests = int64_t(scores.size());
    int64_t width = 1;
    std::vector<int32_t> seen, now, from;
    for (int64_t r = 0; r < requests; ++r) {
      seen.push_back(int32_t(scores[size_t(r)].size()));
      now.push_back(seen.back() + added[size_t(r)]);
      from.push_back(int32_t(requests - 1 - r));  // rows of lists need not be in order
      width = std::max(width, dsa::padded_context(seen.back()));
    }
    const uint16_t rows_of = scene.garbage<float>("scores", requests * width);
    std::vector<int32_t> lengths;
    for (int64_t row = 0; row < requests; ++row) {
      const auto& values = scores[size_t(requests - 1 - row)];
      lengths.push_back(int32_t(values.size()));
      scene.memory.write(Address(scene.bindings[rows_of].base.value + uint64_t(row * width) * 4),
                         std::as_bytes(std::span(values)));
    }
    const uint16_t made_from = scene.put("lengths", lengths);
    lists = scene.garbage<Ranked>("lists", requests * dsa::kTopk);
    on_host<TopkPartial>(scene, [&](auto& a) {
      a.scores = dsa::score_rows(rows_of, requests, width);
      a.contexts = dsa::row(made_from, Format::i32, requests);
      a.lists = dsa::lists(lists, requests);
      a.tokens = int(requests);
    });
    sources = scene.put("sources", from);
    listed = scene.put("listed", seen);
    contexts = scene.put("contexts", now);
    positions = scene.garbage<int32_t>("positions", requests * queries * dsa::kTopk);
    valid = scene.garbage<int32_t>("valid", requests * queries);
  }
  auto arguments() const {
    return [this](auto& a) {
      const auto requests = int64_t(scores.size());
      a.lists = dsa::lists(lists, requests);
      a.sources = dsa::row(sources, Format::i32, requests);
      a.listed = dsa::row(listed, Format::i32, requests);
      a.contexts = dsa::row(contexts, Format::i32, requests);
      a.positions = dsa::positions(positions, requests * queries);
      a.valid = dsa::row(valid, Format::i32, requests * queries);
      a.tokens = int(requests) * queries;
      a.queries = queries;
    };
  }
  void expect_right() {
    on_host<MergeAdd>(scene, arguments());
    for (size_t token = 0; token < scores.size() * size_t(queries); ++token) {
      const size_t request = token / size_t(queries), own = token % size_t(queries);
      auto row = scores[request];
      const int more = std::max(added[request] - queries + 1 + int(own), 0);
      row.resize(row.size() + size_t(more), kFirst);
      const auto want = ref::topk(row, dsa::kTopk);
      EXPECT_TRUE(passes(ref::compare_exact(
          "token " + std::to_string(token),
          scene.get<int32_t>(positions, dsa::kTopk, int64_t(token) * dsa::kTopk), want)));
      EXPECT_EQ(scene.get<int32_t>(valid, 1, int64_t(token))[0],
                std::count_if(want.begin(), want.end(), [](int32_t p) { return p >= 0; }));
    }
  }
};

TEST(ReusedSelection, NewestPositionsFirstThenTheBestOfTheList) {
  Random random(1);
  std::vector<std::vector<float>> rows;
  for (int64_t n : {0, 1, 1900, 2047, 2048, 2049, 6000}) rows.push_back(random.normals(n));
  for (int more : {0, 1, 5, 255, 256}) {
    SCOPED_TRACE(more);
    Reuse(rows, std::vector<int>(rows.size(), more), 1).expect_right();
  }
}

TEST(ReusedSelection, SeveralQueryTokensSeeOneMoreEach) {
  Random random(2);
  for (int queries : {2, 4})
    Reuse({random.normals(3000), random.normals(40), random.normals(2048)},
          {queries, 64, 3 * queries}, queries)
        .expect_right();
}

TEST(ReusedSelection, TiesAndWhatIsNeverSelected) {
  std::vector<float> ties(5000, 0.0f), few(2500, std::numeric_limits<float>::quiet_NaN());
  few[7] = 1, few[2400] = -2;
  Reuse({ties, few}, {9, 9}, 1).expect_right();
}

TEST(ReusedSelection, SameOnChips) {
  Random random(3);
  const Reuse reuse({random.normals(2500), random.normals(10)}, {3, 70}, 2);
  expect_same<MergeAdd>(reuse.scene, reuse.arguments());
}

// What the fused selection keeps is its selection, best first.
TEST(ReusedSelection, FusedSelectionKeepsItsLists) {
  for (int splits : {1, 3}) {
    IndexScene scene({2, 300, 4500}, 2, 64, 64, true, uint64_t(splits));
    const int64_t tokens = scene.tokens();
    const uint16_t lists = scene.garbage<Ranked>("lists", tokens * splits * dsa::kTopk);
    const uint16_t kept = scene.garbage<Ranked>("kept", tokens * dsa::kTopk);
    const uint16_t chosen = scene.garbage<int32_t>("positions", tokens * dsa::kTopk);
    const uint16_t valid = scene.garbage<int32_t>("valid", tokens);
    on_host<IndexerTopk<64, 2>::On>(scene, [&](auto& a) {
      scene.inputs(a, splits);
      a.lists = dsa::lists(lists, tokens * splits);
      a.positions = dsa::positions(chosen, tokens);
      a.valid = dsa::row(valid, Format::i32, tokens);
      a.keeps = true;
      a.kept = dsa::lists(kept, tokens);
    });
    for (int64_t t = 0; t < tokens; ++t) {
      const auto want = ref::topk(scene.oracle(t), dsa::kTopk);
      const auto count = scene.get<int32_t>(valid, 1, t)[0];
      const auto records = scene.get<Ranked>(kept, count, t * dsa::kTopk);
      std::vector<int32_t> got;
      for (size_t i = 0; i < records.size(); ++i) {
        got.push_back(records[i].position);
        if (i > 0) { EXPECT_GE(records[i - 1].score, records[i].score); }
      }
      std::sort(got.begin(), got.end());
      got.resize(dsa::kTopk, -1);
      EXPECT_TRUE(passes(ref::compare_exact("kept list", got, want)));
    }
  }
}

}  // namespace
}  // namespace daybreak::kernels
