// Indexer scores on Host against the Eigen oracle, in both key forms, for every number of query
// tokens.
#include "kernels/library/dsa/indexer.hpp"

#include "ref/compare/tolerance.hpp"
#include "ref/ops/indexer.hpp"
#include "tests/kernels/library/index_scene.hpp"

namespace daybreak::kernels {
namespace {

struct Shape {
  std::vector<int32_t> contexts;
  int queries, heads, splits;
};

template <int kHeads, int kQueries, class Form>
void check(const Shape& shape, uint64_t seed, int64_t first_page = 0) {
  SCOPED_TRACE(::testing::Message() << "queries " << shape.queries << " heads " << shape.heads
                                    << " splits " << shape.splits << " seed " << seed);
  IndexScene scene(shape.contexts, shape.queries, shape.heads, kHeads, Form::kQuantised, seed,
                   first_page);
  const auto fill = [&](auto& a) {
    scene.inputs(a, shape.splits);
    a.scores = dsa::score_columns(scene.scores, scene.tokens(), scene.positions);
    a.positions = int(scene.positions);
  };
  on_host<Indexer<kHeads, kQueries, Form>::template On>(scene, fill);
  for (int64_t token = 0; token < scene.tokens(); ++token) {
    const int32_t seen = scene.seen(token);
    if (seen == 0) continue;
    EXPECT_TRUE(passes(ref::compare("scores of token " + std::to_string(token),
                                    scene.get<float>(scene.scores, seen, token * scene.positions),
                                    std::span<const float>(scene.oracle(token)),
                                    ref::tolerance("indexer_scores"))));
  }
}

TEST(Indexer, OneQueryTokenAndEveryTailLength) {
  for (int splits : {1, 3})
    check<64, 1, dsa::Fp8>({{0, 1, 63, 64, 65, 255, 256, 257, 700}, 1, 64, splits}, 1);
}
TEST(Indexer, TwoToEightQueryTokens) {
  const std::vector<int32_t> contexts{2, 130, 64, 0, 321};
  check<64, 2, dsa::Fp8>({contexts, 2, 64, 2}, 2);
  check<64, 4, dsa::Fp8>({contexts, 3, 64, 2}, 3);
  check<64, 4, dsa::Fp8>({contexts, 4, 64, 1}, 4);
  check<64, 8, dsa::Fp8>({contexts, 5, 64, 2}, 5);
  check<64, 8, dsa::Fp8>({contexts, 8, 64, 4}, 6);
}
TEST(Indexer, FewerHeadsThanTheTile) {
  check<64, 1, dsa::Fp8>({{200, 77}, 1, 1, 2}, 7);
  check<64, 1, dsa::Fp8>({{200, 77}, 1, 33, 2}, 8);
  check<32, 1, dsa::Fp8>({{200, 77}, 1, 32, 1}, 9);
  check<32, 8, dsa::Fp8>({{200, 77}, 7, 5, 3}, 10);
}
TEST(Indexer, PlainRows) {
  check<64, 1, dsa::Plain>({{1, 64, 300}, 1, 64, 2}, 11);
  check<64, 8, dsa::Plain>({{5, 64, 300}, 5, 64, 2}, 12);
}
TEST(Indexer, MoreSplitsThanPagesAndNoRequests) {
  check<64, 1, dsa::Fp8>({{70, 1}, 1, 64, 9}, 13);
  check<64, 1, dsa::Fp8>({{}, 1, 64, 4}, 14);
}
TEST(Indexer, PageOffsetsPastThirtyTwoBits) {
  check<64, 1, dsa::Fp8>({{130}, 1, 64, 1}, 15, 600'000);
}

}  // namespace
}  // namespace daybreak::kernels
