#include "ref/ops/page_table.hpp"

#include "configs/reader/errors.hpp"
#include "tests/ref/tools.hpp"

namespace daybreak {
namespace {

using namespace ref;
using namespace testing;

TEST(TranslatePositions, FollowsBothLevels) {
  Random random(1);
  for (const int64_t page_tokens : {1, 16, 64, 640}) {
    std::vector<int32_t> requests, blocks;
    for (int32_t request = 0; request < 5; ++request) {
      const int32_t entries = int32_t(random.below(6));
      requests.insert(requests.end(), {int32_t(blocks.size()), entries, request, 0});
      for (int32_t i = 0; i < entries; ++i) blocks.push_back(int32_t(random.below(1000000)));
    }
    const PageTable table{.requests = requests, .blocks = blocks, .page_tokens = page_tokens};
    for (int64_t request = 0; request < 5; ++request) {
      const int64_t first = requests[size_t(4 * request)],
                    entries = requests[size_t(4 * request + 1)];
      std::vector<int32_t> positions = {-1}, want = {-1};
      for (int64_t p = 0; p < entries * page_tokens; ++p) {
        positions.push_back(int32_t(p));
        want.push_back(
            int32_t(blocks[size_t(first + p / page_tokens)] * page_tokens + p % page_tokens));
      }
      positions.push_back(-1);
      want.push_back(-1);
      EXPECT_EQ(translate_positions(positions, table, request), want);
      const std::vector<int32_t> past = {int32_t(entries * page_tokens)};
      EXPECT_THROW(translate_positions(past, table, request), InvariantError);
    }
    EXPECT_THROW(translate_positions({}, table, 5), InvariantError);
    EXPECT_THROW(translate_positions({}, table, -1), InvariantError);
  }
}

TEST(TranslatePositions, RowsBeyondInt32AreErrors) {
  const std::vector<int32_t> requests = {0, 2, 1, 0}, blocks = {33554431, 33554432};
  const PageTable table{.requests = requests, .blocks = blocks, .page_tokens = 64};
  const std::vector<int32_t> last = {63}, beyond = {64};
  EXPECT_EQ(translate_positions(last, table, 0), (std::vector<int32_t>{2147483647}));
  EXPECT_THROW(translate_positions(beyond, table, 0), InvariantError);
}

TEST(TranslatePositions, UnmappedAndBrokenTablesAreErrors) {
  const std::vector<int32_t> requests = {0, 2, 1, 0, 1, 9, 1, 0}, blocks = {5, -1};
  const PageTable table{.requests = requests, .blocks = blocks, .page_tokens = 64};
  EXPECT_THROW(translate_positions(std::vector<int32_t>{64}, table, 0), InvariantError);
  EXPECT_THROW(translate_positions(std::vector<int32_t>{-2}, table, 0), InvariantError);
  EXPECT_THROW(translate_positions(std::vector<int32_t>{128}, table, 1), InvariantError);
}

}  // namespace
}  // namespace daybreak
