// The KV cache against a model that never shares, evicts or moves anything: the token lists alone,
// whose bytes follow from them.
#include <map>

#include "configs/reader/errors.hpp"
#include "kernels/runtime/kv/snapshot.hpp"
#include "tests/runtime/kv/bench.hpp"

namespace daybreak::kernels::kv::test {
namespace {

TEST(KvCache, GrowsInBothCachesAndMapsEveryToken) {
  Bench b;
  const auto r = b.kv->open(tokens_of(200));
  ASSERT_TRUE(r);
  EXPECT_EQ(r->shared, 0);
  ASSERT_TRUE(b.kv->append(r->request, tokens_of(200), {}));
  b.write(r->request);
  EXPECT_TRUE(b.holds(r->request));
  EXPECT_EQ(b.caches[0]->blocks(r->request), 4);  // 64 a page
  EXPECT_EQ(b.caches[1]->blocks(r->request), 4);  // 61 a page
}

// A shared block that is written by one of its users (sglang PR#31474; flashinfer #4896; vllm PR#56196).
TEST(KvCache, EqualPrefixesShareTheirPagesUntilOneWrites) {
  Bench b;
  const auto first = b.kv->open(tokens_of(150));
  b.kv->append(first->request, tokens_of(150), {});
  b.write(first->request);
  const int64_t free = b.caches[1]->free_pages();

  std::vector<int32_t> prompt = tokens_of(140);
  prompt.push_back(9999);
  const auto second = b.kv->open(prompt);
  EXPECT_EQ(second->shared, 140);
  EXPECT_EQ(b.caches[1]->free_pages(), free);
  EXPECT_TRUE(b.caches[1]->shared(first->request, 0));
  ASSERT_TRUE(b.kv->append(second->request, std::span(prompt).subspan(140), {}));
  b.write(second->request);
  EXPECT_EQ(b.caches[1]->free_pages(), free - 1);  // the block of position 140 was copied
  EXPECT_EQ(b.caches[1]->counters().copied, 1);
  EXPECT_TRUE(b.holds(first->request));
  EXPECT_TRUE(b.holds(second->request));
}

TEST(KvCache, AWholePromptThatIsThereLeavesOneTokenToAsk) {
  Bench b;
  const auto first = b.kv->open(tokens_of(128));
  b.kv->append(first->request, tokens_of(128), {});
  b.write(first->request);
  EXPECT_EQ(b.kv->open(tokens_of(128))->shared, 127);
}

TEST(KvCache, WhatIsNotCommittedIsNotShared) {
  Bench b;
  const auto first = b.kv->open(tokens_of(128));
  b.kv->append(first->request, tokens_of(128), {});
  EXPECT_EQ(b.kv->open(tokens_of(128))->shared, 0);
}

// Offloading makes the tables of everybody who maps the block stale, at once.
TEST(KvCache, OffloadingUnmapsForEveryUserAndRaisesTheirGenerations) {
  Bench b;
  const int first = b.kv->open(tokens_of(100))->request;
  b.kv->append(first, tokens_of(100), {});
  b.write(first);
  const int child = *b.kv->fork(first);
  const int other = b.kv->open(tokens_of(5, 500))->request;
  b.kv->append(other, tokens_of(5, 500), {});
  b.write(other);
  const int32_t before[] = {b.generation_in_memory(1, first), b.generation_in_memory(1, child),
                            b.generation_in_memory(1, other)};
  b.caches[1]->offload(first, 1);
  EXPECT_EQ(b.walk(1, first, 70), -1);
  EXPECT_EQ(b.walk(1, child, 70), -1);
  EXPECT_GT(b.generation_in_memory(1, first), before[0]);
  EXPECT_GT(b.generation_in_memory(1, child), before[1]);
  EXPECT_EQ(b.generation_in_memory(1, other), before[2]);
  EXPECT_EQ(b.generation_in_memory(0, first), b.caches[0]->generation(first));
  ASSERT_TRUE(b.kv->make_resident({first}));
  EXPECT_TRUE(b.holds(first));
  EXPECT_TRUE(b.holds(child));
}

TEST(KvCache, PressureMovesTheColdestOfOthersAndNeverTheActive) {
  Bench b({.index_pages = 4, .latent_pages = 4});
  std::vector<int> r;
  for (int i = 0; i < 3; ++i) {
    r.push_back(b.kv->open(tokens_of(100, 1000 * i))->request);
    ASSERT_TRUE(b.kv->append(r.back(), tokens_of(100, 1000 * i), {r.back()}));
    b.write(r.back());
    ASSERT_TRUE(b.kv->make_resident({r.back()}));
  }
  EXPECT_FALSE(b.caches[1]->resident(r[0], 0));  // the first was the coldest
  EXPECT_TRUE(b.caches[1]->resident(r[1], 0));
  ASSERT_TRUE(b.kv->make_resident({r[0], r[2]}));
  EXPECT_TRUE(b.holds(r[0]));
  EXPECT_TRUE(b.holds(r[2]));
  EXPECT_FALSE(b.kv->make_resident({r[0], r[1], r[2]}));  // six blocks, four pages
}

TEST(KvCache, RefusesMoreThanItCanHold) {
  Bench b;
  const int r = b.kv->open(tokens_of(1))->request;
  EXPECT_FALSE(b.kv->append(r, tokens_of(int(b.kv->longest()) + 1), {}));
  EXPECT_EQ(b.kv->length(r), 0);
  for (int i = 1; i < 6; ++i) EXPECT_TRUE(b.kv->open(tokens_of(1)));
  EXPECT_FALSE(b.kv->open(tokens_of(1)));
  EXPECT_FALSE(b.kv->fork(r));
  EXPECT_THROW(b.kv->truncate(r, 1), InvariantError);
  b.kv->close(r);
  EXPECT_THROW(b.kv->append(r, tokens_of(1), {}), InvariantError);
}

// Index keys come back with the latents (sglang PR#39156, #38212; LMCache #5010; transformers PR#48763: only
// the latents did, which shows past 2048 tokens): by offload, and by a snapshot into pages that others used.
TEST(KvCache, BothCachesComeBackPastTheSelectionsLength) {
  const Sizes sizes{.index_pages = 50, .latent_pages = 50, .blocks = 80};
  Bench b(sizes);
  const int r = b.kv->open(tokens_of(2300))->request;
  ASSERT_TRUE(b.kv->append(r, tokens_of(2300), {r}));
  b.write(r);
  std::vector<std::byte> bytes;
  write_snapshot(*b.kv, [&](std::span<const std::byte> part) {
    bytes.insert(bytes.end(), part.begin(), part.end());
  });
  const int other = b.kv->open(tokens_of(2400, 50000))->request;
  ASSERT_TRUE(b.kv->make_resident({other}));
  ASSERT_TRUE(b.kv->append(other, tokens_of(2400, 50000), {other}));
  b.write(other);
  for (const auto& cache : b.caches) EXPECT_GT(cache->counters().offloaded, 0);
  ASSERT_TRUE(b.kv->make_resident({r}));
  EXPECT_TRUE(b.holds(r));

  Bench used(sizes);
  const int gone = used.kv->open(tokens_of(2500, 90000))->request;
  ASSERT_TRUE(used.kv->append(gone, tokens_of(2500, 90000), {gone}));
  used.write(gone);
  used.kv->close(gone);
  const auto back = read_snapshot(*used.kv, bytes, "memory");
  ASSERT_EQ(back.size(), 1u);
  EXPECT_TRUE(used.holds(back[0]));
}

// The memory of a token is that of both caches (sglang PR#11309: the index keys were left out), and either
// of them may be the one that is full.
TEST(KvCache, TheBudgetIsOfBothCaches) {
  EXPECT_EQ(latent_records(64).token_bytes() + index_keys(64).token_bytes(), 656 + 132);
  EXPECT_EQ(latent_records(61).page_bytes, 61 * 656);
  EXPECT_EQ(index_keys(64).page_bytes, 8448);
  for (const Sizes& sizes :
       {Sizes{.index_pages = 3, .latent_pages = 20}, Sizes{.index_pages = 20, .latent_pages = 3}}) {
    Bench b(sizes);
    const int r = b.kv->open(tokens_of(1))->request;
    EXPECT_FALSE(b.kv->append(r, tokens_of(64 * 4), {r}));
    EXPECT_EQ(b.caches[0]->free_pages(), sizes.index_pages);
    EXPECT_EQ(b.caches[1]->free_pages(), sizes.latent_pages);
    EXPECT_TRUE(b.kv->append(r, tokens_of(100), {r}));
  }
}

TEST(KvCache, ShapesWithoutRoomAreUserErrors) {
  EXPECT_THROW(Bench({.latent_page = 0}), UserError);
  EXPECT_THROW(Bench({.latent_pages = 0}), UserError);
  EXPECT_THROW(Bench({.requests = 0}), UserError);
  EXPECT_THROW(Bench({.blocks = int64_t{1} << 40}), UserError);
}

// A list of rows translated under a generation; right as long as that is the table's.
struct Translated {
  int32_t generation = 0;
  std::vector<int64_t> rows;
};

class Schedule {
 public:
  explicit Schedule(uint64_t seed)
      : random_(seed),
        b_({.index_page = pick({16, 64}),
            .latent_page = pick({1, 7, 16, 61}),
            .index_pages = 14 + below(10),
            .latent_pages = 14 + below(10),
            .requests = 5,
            .blocks = 64}) {}

  void run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) step();
  }

 private:
  int64_t below(int64_t n) { return int64_t(random_() % uint64_t(n)); }
  int64_t pick(std::vector<int64_t> of) { return of[size_t(below(int64_t(of.size())))]; }
  std::vector<int> living() const {
    std::vector<int> out;
    for (const auto& [r, tokens] : model_) out.push_back(r);
    return out;
  }
  int one() { return pick_of(living()); }
  int pick_of(const std::vector<int>& of) { return of[size_t(below(int64_t(of.size())))]; }

  void step() {
    if (model_.empty() || below(8) == 0) return open();
    const int r = one();
    switch (below(9)) {
      case 0: return close(r);
      case 1: return fork(r);
      case 2: return speculate(r);
      case 3: return b_.caches[below(2)]->blocks(r) > 0 ? offload(r) : void();
      case 4: return below(4) == 0 ? restore_elsewhere() : check();
      default: return append(r, 1 + below(6));
    }
  }
  void open() {
    // Prompts over few tokens, so that prefixes meet.
    std::vector<int32_t> prompt;
    for (int64_t n = 1 + below(60), i = 0; i < n; ++i) prompt.push_back(int32_t(below(8) == 0));
    if (const auto from = living(); !from.empty() && below(2)) prompt = model_[pick_of(from)];
    prompt.push_back(int32_t(below(3)));
    const auto opened = b_.kv->open(prompt);
    ASSERT_EQ(bool(opened), model_.size() < 5);
    if (!opened) return;
    model_[opened->request].assign(prompt.begin(), prompt.begin() + opened->shared);
    tables_.erase(opened->request);
    extend(opened->request, std::span(prompt).subspan(size_t(opened->shared)));
  }
  void append(int r, int64_t count) {
    std::vector<int32_t> tokens;
    for (int64_t i = 0; i < count; ++i) tokens.push_back(int32_t(below(3)));
    extend(r, tokens);
  }
  bool extend(int r, std::span<const int32_t> tokens) {
    if (!b_.kv->make_resident({r}) || !b_.kv->append(r, tokens, {r})) {
      EXPECT_EQ(b_.kv->length(r), int64_t(model_[r].size()));
      if (model_[r].empty()) close(r);
      return false;
    }
    b_.write(r);
    model_[r].insert(model_[r].end(), tokens.begin(), tokens.end());
    check(r);
    return true;
  }
  void speculate(int r) {
    const size_t before = model_[r].size();
    if (!extend(r, tokens_of(1 + int(below(4)), int32_t(below(3))))) return;
    const size_t kept = before + size_t(below(int64_t(model_[r].size() - before) + 1));
    b_.kv->truncate(r, int64_t(kept));
    model_[r].resize(kept);
    if (kept == 0) return close(r);
    check(r);
  }
  void fork(int r) {
    const auto child = b_.kv->fork(r);
    ASSERT_EQ(bool(child), model_.size() < 5);
    if (!child) return;
    model_[*child] = model_[r];
    tables_.erase(*child);
  }
  void close(int r) {
    b_.kv->close(r);
    model_.erase(r);
  }
  void offload(int r) {
    PagedCache& c = *b_.caches[below(2)];
    c.offload(r, below(c.blocks(r)));
  }
  // A snapshot taken up by a cache of other pages is the same cache.
  void restore_elsewhere() {
    std::vector<std::byte> bytes;
    write_snapshot(*b_.kv, [&](std::span<const std::byte> part) {
      bytes.insert(bytes.end(), part.begin(), part.end());
    });
    Bench other({.index_page = 32,
                 .latent_page = pick({5, 64}),
                 .index_pages = 200,
                 .latent_pages = 600,
                 .requests = 7,
                 .blocks = 100});
    const auto requests = read_snapshot(*other.kv, bytes, "memory");
    ASSERT_EQ(requests.size(), model_.size());
    auto model = model_.begin();
    for (int r : requests) {
      const auto tokens = other.kv->tokens(r);
      ASSERT_EQ(std::vector<int32_t>(tokens.begin(), tokens.end()), (model++)->second);
      ASSERT_TRUE(other.kv->make_resident({r}));
      ASSERT_TRUE(other.holds(r));
    }
  }
  void check() {
    for (int r : living()) {
      if (!b_.kv->make_resident({r})) continue;
      check(r);
    }
  }
  // Tokens, bytes through the page table, and: a table whose generation still holds is right.
  void check(int r) {
    const auto tokens = b_.kv->tokens(r);
    ASSERT_EQ(std::vector<int32_t>(tokens.begin(), tokens.end()), model_[r]);
    ASSERT_TRUE(b_.holds(r));
    ASSERT_EQ(b_.generation_in_memory(1, r), b_.caches[1]->generation(r));
    Translated& old = tables_[r];
    const bool in_force = old.generation == b_.caches[1]->generation(r);
    for (size_t p = 0; in_force && p < std::min(old.rows.size(), model_[r].size()); ++p)
      ASSERT_EQ(old.rows[p], b_.walk(1, r, int64_t(p)));
    old = {.generation = b_.caches[1]->generation(r), .rows = {}};
    for (size_t p = 0; p < model_[r].size(); ++p) old.rows.push_back(b_.walk(1, r, int64_t(p)));
  }

  std::mt19937_64 random_;
  Bench b_;
  std::map<int, std::vector<int32_t>> model_;
  std::map<int, Translated> tables_;
};

TEST(KvCache, ThousandsOfRandomSchedulesEqualAModelThatNeverEvicts) {
  for (uint64_t seed = 1; seed <= 2000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Schedule(seed).run(40);
  }
}

}  // namespace
}  // namespace daybreak::kernels::kv::test
