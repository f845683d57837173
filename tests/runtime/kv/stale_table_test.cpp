// The instructions that kernels walk and gather with, over the tables the KV cache keeps: a table
// made before a block moved is refused and named, one made after it is right.
#include "configs/reader/errors.hpp"
#include "isa/instructions/gather.hpp"
#include "isa/instructions/translate.hpp"
#include "kernels/library/dsa/layouts.hpp"
#include "tests/runtime/kv/bench.hpp"

namespace daybreak::kernels::kv::test {
namespace {

using isa::Space;

// One request's positions 0 to 15 through the page table of the latents.
struct Walker {
  Bench b{{.latent_page = 5, .latent_pages = 30, .blocks = 8}};
  isa::BindingTable bindings;
  std::vector<isa::TensorDesc> tensors;
  isa::Scratch scratch{{Bytes(65536), Bytes(4096), Bytes(4096)}};

  Walker() {
    const auto bind = [&](const char* name, int64_t bytes, Address base) {
      bindings.push_back({.name = name, .base = base, .bytes = Bytes(bytes)});
    };
    const auto base_of = [](const char* name, isa::MemoryImage& image, int64_t bytes) {
      return image.reserve(name, Bytes(bytes));
    };
    bind("latents", 30 * 5 * dsa::kRecordBytes, b.base[1][0]);
    bind("requests", 6 * 16, b.base[1][1]);
    bind("blocks", 6 * 8 * 4, b.base[1][2]);
    bind("positions", 64, base_of("positions", b.image, 64));
    bind("rows", 64, base_of("rows", b.image, 64));
    bind("stamps", 8, base_of("stamps", b.image, 8));
    tensors = {dsa::latent_records(0, 30, 5), dsa::page_requests(1, 6),
               dsa::page_blocks(2, 6 * 8),    dsa::row(3, Format::i32, 16),
               dsa::row(4, Format::i32, 16),  dsa::matrix(5, Format::i32, 1, 2)};
    for (int32_t i = 0; i < 16; ++i)
      b.image.put<int32_t>(Address(bindings[3].base.value + uint64_t(i) * 4), i);
  }
  isa::Context context() {
    return {.scratch = scratch, .memory = b.image, .tensors = tensors, .bindings = bindings};
  }
  void translate(int request) {
    auto c = context();
    isa::Translate{.to = {.tensor = 4},
                   .generation = {.tensor = 5},
                   .positions = {.tensor = 3},
                   .requests = {.tensor = 1},
                   .blocks = {.tensor = 2},
                   .request = request,
                   .count = 16,
                   .page_tokens = 5}
        .execute(c);
  }
  std::vector<std::byte> gather() {
    auto c = context();
    isa::Gather{.to = {.id = 0,
                       .space = Space::operand,
                       .format = Format::u8,
                       .offset = 0,
                       .pitch = dsa::kRecordBytes,
                       .rows = 16,
                       .cols = dsa::kRecordBytes},
                .from = {.tensor = 0},
                .index = {.tensor = 4},
                .generation = {.tensor = 5},
                .requests = {.tensor = 1}}
        .execute(c);
    const auto bytes = scratch.bytes(Space::operand).first(16 * dsa::kRecordBytes);
    return {bytes.begin(), bytes.end()};
  }
  std::vector<std::byte> want(int request) const {
    std::vector<std::byte> out;
    for (size_t p = 0; p < 16; ++p) {
      const auto token = token_bytes(b.kv->tokens(request).first(p + 1), 1, dsa::kRecordBytes);
      out.insert(out.end(), token.begin(), token.end());
    }
    return out;
  }
  int add(int count, int32_t first) {
    const int r = b.kv->open(tokens_of(count, first))->request;
    EXPECT_TRUE(b.kv->append(r, tokens_of(count, first), {r}));
    b.write(r);
    return r;
  }
  void expect_stale(const char* change) {
    try {
      gather();
      FAIL() << change << ": a stale table was gathered through";
    } catch (const InvariantError& e) {
      EXPECT_NE(std::string(e.what()).find("stale index table"), std::string::npos) << e.what();
    }
  }
};

TEST(StaleTable, ATableOfTheseTablesIsRight) {
  Walker w;
  w.add(7, 300);
  const int r = w.add(16, 0);
  w.translate(r);
  EXPECT_EQ(w.gather(), w.want(r));
}

TEST(StaleTable, EveryMoveOfABlockIsCaughtAndARebuiltTableIsRight) {
  for (const char* change :
       {"offload and restore", "copy on write", "rolled back", "request reused"}) {
    SCOPED_TRACE(change);
    Walker w;
    int r = w.add(18, 0);
    w.translate(r);
    const std::string what = change;
    if (what == "offload and restore") {
      w.b.caches[1]->offload(r, 1);
      w.expect_stale(change);
      EXPECT_THROW(w.translate(r), InvariantError);  // a page fault, until it is back
      ASSERT_TRUE(w.b.kv->make_resident({r}));
    } else if (what == "copy on write") {
      ASSERT_TRUE(w.b.kv->fork(r));
      ASSERT_TRUE(w.b.kv->append(r, tokens_of(1, 77), {r}));
      w.b.write(r);
    } else if (what == "rolled back") {
      w.b.kv->truncate(r, 3);
      w.expect_stale(change);
      ASSERT_TRUE(w.b.kv->append(r, tokens_of(20, 40), {r}));
      w.b.write(r);
    } else {
      w.b.kv->close(r);
      r = w.add(16, 900);
    }
    w.expect_stale(change);
    w.translate(r);
    EXPECT_EQ(w.gather(), w.want(r));
  }
}

// Tokens that only grow leave what has been translated right, and the table in force.
TEST(StaleTable, AppendingKeepsATableInForce) {
  Walker w;
  const int r = w.add(16, 0);
  w.translate(r);
  ASSERT_TRUE(w.b.kv->append(r, tokens_of(12, 16), {r}));
  w.b.write(r);
  EXPECT_EQ(w.gather(), w.want(r));
}

}  // namespace
}  // namespace daybreak::kernels::kv::test
