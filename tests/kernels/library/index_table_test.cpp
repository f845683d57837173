// The index table against the oracle's page walk: page sizes, -1 entries, pages past 32 bits of
// bytes, and tables that outlived their request.
#include "kernels/library/dsa/index_table.hpp"

#include "ref/ops/page_table.hpp"
#include "tests/kernels/library/scene.hpp"

namespace daybreak::kernels {
namespace {

struct TableScene : Scene {
  std::vector<int32_t> contexts;
  int queries;
  Random random;
  Pages pages;
  std::vector<int32_t> selected;  // (tokens, 2048)
  uint16_t chosen, requests, blocks, rows, stamps;

  TableScene(std::vector<int32_t> lengths, int queries_, int64_t page_tokens, uint64_t seed,
             int64_t first_page = 0)
      : contexts(std::move(lengths)),
        queries(queries_),
        random(seed),
        pages(random, contexts, page_tokens, first_page),
        selected(size_t(tokens() * dsa::kTopk), -1) {
    for (int64_t t = 0; t < tokens(); ++t) {
      const int32_t context = contexts[size_t(t / queries)];
      int64_t n = 0;
      for (int32_t p = 0; p < context && n < dsa::kTopk; ++p)
        if (random.below(3) > 0) selected[size_t(t * dsa::kTopk + n++)] = p;
    }
    chosen = put("positions", selected);
    requests = put("requests", pages.requests);
    blocks = put("blocks", pages.blocks);
    rows = garbage<int32_t>("rows", std::max<int64_t>(tokens(), 1) * dsa::kTopk);
    stamps = garbage<int32_t>("stamps", std::max<int64_t>(tokens(), 1) * 2);
  }
  int64_t tokens() const { return int64_t(contexts.size()) * queries; }
  void run() {
    on_host<IndexTable>(*this, [&](auto& a) {
      a.positions = dsa::positions(chosen, tokens());
      a.page_requests = dsa::page_requests(requests, int64_t(contexts.size()));
      a.page_blocks = dsa::page_blocks(blocks, int64_t(pages.blocks.size()));
      a.rows = dsa::positions(rows, tokens());
      a.stamps = dsa::stamps(stamps, tokens());
      a.tokens = int(tokens());
      a.queries = queries;
      a.page_tokens = int(pages.page_tokens);
    });
  }
  void expect() {
    for (int64_t t = 0; t < tokens(); ++t) {
      const ref::PageTable table{
          .requests = pages.requests, .blocks = pages.blocks, .page_tokens = pages.page_tokens};
      const auto want = ref::translate_positions(
          std::span(selected).subspan(size_t(t * dsa::kTopk), dsa::kTopk), table, t / queries);
      EXPECT_TRUE(passes(ref::compare_exact("rows of token " + std::to_string(t),
                                            get<int32_t>(rows, dsa::kTopk, t * dsa::kTopk), want)));
      const auto stamp = get<int32_t>(stamps, 2, t * 2);
      EXPECT_EQ(stamp[0], pages.requests[size_t(t / queries) * 4 + 2]);
      EXPECT_EQ(stamp[1], int32_t(t / queries));
    }
  }
};

TEST(IndexTable, PageSizesAndLengths) {
  for (int64_t page : {2, 16, 61, 64, 128, 576}) {
    SCOPED_TRACE(page);
    TableScene scene({0, 1, 500, 5000}, 2, page, uint64_t(page));
    scene.run();
    scene.expect();
  }
}

TEST(IndexTable, RowsWhoseBytesPassThirtyTwoBits) {
  TableScene scene({900}, 1, 64, 3, 20'000'000);
  scene.run();
  scene.expect();
}

TEST(IndexTable, NoTokens) {
  TableScene scene({}, 1, 64, 4);
  scene.run();
  scene.expect();
}

TEST(IndexTable, PositionWithoutAPageIsRefused) {
  TableScene scene({200}, 1, 64, 5);
  scene.set<int32_t>(scene.chosen, 100, 5'000'000);
  EXPECT_THROW(scene.run(), InvariantError);
}

}  // namespace
}  // namespace daybreak::kernels
