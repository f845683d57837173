#include "tests/isa/instructions/bench.hpp"

namespace daybreak::isa::test {

// Fills a tensor's region with bytes that depend on their place.
void fill_region(Bench& b, const TensorRef& t) {
  const Binding& binding = b.bindings[b.tensors[t.tensor].binding];
  std::vector<uint8_t> bytes(size_t(binding.bytes.value));
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = uint8_t(i * 131 + i / 256 * 17 + 1);
  b.memory.write(binding.base, std::as_bytes(std::span(bytes)));
}

template <class T> T element(Bench& b, const TensorRef& t, int64_t row, int64_t col) {
  const TensorDesc& d = b.tensors[t.tensor];
  int64_t at = d.offset, rest = row;
  for (int i = d.rank - 2; i >= 0; --i) {
    at += rest % d.dims[i] * d.strides[i];
    rest /= d.dims[i];
  }
  return b.memory.get<T>(
      Address(b.bindings[d.binding].base.value + uint64_t(at + col * int64_t(sizeof(T)))));
}

// (pages, rows, cols) with gaps after rows and pages.
TensorRef strided(Bench& b, OutOfBounds rule) {
  const TensorRef t = b.memory_tensor(Format::i32, {4, 3, 40}, rule);
  TensorDesc& d = b.tensors[t.tensor];
  d.dims = {3, 3, 30};
  d.strides = {3 * 40 * 4 + 16, 40 * 4, 4};
  fill_region(b, t);
  return t;
}

TEST(Semantics, load) {
  Bench b;
  const TensorRef t = strided(b, OutOfBounds::zero);
  for (auto [row, col] : {std::pair{0, 0}, {2, 5}, {-2, -3}, {6, 20}, {20, 0}}) {
    const TileRef x = b.tile(Space::operand, Format::i32, 5, 12, 4);
    for (int r = 0; r < 5; ++r)
      for (int c = 0; c < 12; ++c) b.put(x, r, c, 77);
    const Load load{.to = x, .from = {t.tensor, row, col}};
    b.run(load);
    int64_t inside = 0;
    for (int r = 0; r < 5; ++r)
      for (int c = 0; c < 12; ++c) {
        const bool in = row + r >= 0 && row + r < 9 && col + c >= 0 && col + c < 30;
        inside += in;
        ASSERT_EQ(b.get<int32_t>(x, r, c), in ? element<int32_t>(b, t, row + r, col + c) : 0)
            << r << " " << c;
      }
    int64_t bytes = 0;
    for (const Segment& s : b.segments(load)) {
      EXPECT_FALSE(s.write);
      bytes += s.bytes.value;
    }
    EXPECT_EQ(bytes, inside * 4);
  }
  b.tensors[t.tensor].out_of_bounds = OutOfBounds::fault;
  const TileRef x = b.tile(Space::operand, Format::i32, 5, 12),
                wrong = b.tile(Space::operand, Format::f32, 5, 12);
  EXPECT_NE(b.refusal(Load{.to = x, .from = {t.tensor, 6, 0}}).find("leave tensor t0"),
            std::string::npos);
  EXPECT_NE(b.refusal(Load{.to = wrong, .from = t}).find("differ in format"), std::string::npos);
}

// Rows that follow each other are one segment, across pages too when there is no gap.
TEST(Movement, ContiguousRowsMerge) {
  Bench b;
  const TensorRef packed = b.memory_tensor(Format::bf16, {4, 3, 16});
  const TileRef x = b.tile(Space::vector, Format::bf16, 12, 16);
  ASSERT_EQ(b.segments(Load{.to = x, .from = packed}).size(), 1u);
  EXPECT_EQ(b.segments(Load{.to = x, .from = packed})[0].bytes.value, 12 * 32);
  TileRef narrow = x;
  narrow.cols = 8;
  EXPECT_EQ(b.segments(Load{.to = narrow, .from = packed}).size(), 12u);
  const TensorRef gaps = strided(b, OutOfBounds::zero);
  const TileRef y = b.tile(Space::vector, Format::i32, 9, 30);
  EXPECT_EQ(b.segments(Load{.to = y, .from = gaps}).size(), 9u);
}

TEST(Semantics, store) {
  for (OutOfBounds rule : {OutOfBounds::zero, OutOfBounds::skip})
    for (auto [row, col] : {std::pair{0, 0}, {1, 7}, {-1, -2}, {7, 25}}) {
      Bench b;
      const TensorRef t = strided(b, rule);
      const Binding& binding = b.bindings[0];
      std::vector<std::byte> want(size_t(binding.bytes.value)), got = want;
      b.memory.read(binding.base, want);
      const TileRef x = b.tile(Space::vector, Format::i32, 4, 9, 4);
      for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 9; ++c) {
          const int32_t v = 1000 * r + c;
          b.put(x, r, c, v);
          if (row + r < 0 || row + r >= 9 || col + c < 0 || col + c >= 30) continue;
          const int64_t at = (row + r) / 3 * (3 * 160 + 16) + (row + r) % 3 * 160 + (col + c) * 4;
          std::memcpy(want.data() + at, &v, 4);
        }
      b.run(Store{.to = {t.tensor, row, col}, .from = x});
      b.memory.read(binding.base, got);
      EXPECT_EQ(want, got);
    }
}

TEST(Semantics, gather) {
  Bench b;
  const TensorRef t = b.memory_tensor(Format::u8, {8, 4, 24});  // 8 pages of 4 rows
  fill_region(b, t);
  const TensorRef index = b.memory_tensor(Format::i32, {2, 16});
  const std::vector<int32_t> rows = {5, -1, 31, 0, 5, 17};
  b.put_words(index, 1, {9, 9});
  for (size_t i = 0; i < rows.size(); ++i)
    b.memory.put(b.context().address(index, 1, 3 + int64_t(i)), rows[i]);
  const TileRef x = b.tile(Space::operand, Format::u8, 6, 10, 6);
  const Gather gather{.to = x, .from = {t.tensor, 0, 7}, .index = {index.tensor, 1, 3}};
  b.run(gather);
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 10; ++c)
      ASSERT_EQ(b.get<uint8_t>(x, r, c), rows[r] < 0 ? 0 : element<uint8_t>(b, t, rows[r], 7 + c));
  const auto segments = b.segments(gather);
  ASSERT_EQ(segments.size(), 6u);  // the index fetch and five rows
  EXPECT_EQ(segments[0].address, b.context().address(index, 1, 3));
  EXPECT_EQ(segments[0].bytes.value, 24);
  EXPECT_EQ(segments[1].address, b.context().address(t, 5, 7));
  EXPECT_EQ(segments[2].address, b.context().address(t, 31, 7));

  // Pages as entries: four tile rows each, one segment each.
  b.put_words(index, 0, {7, -1, 2});
  const TileRef pages = b.tile(Space::operand, Format::u8, 12, 24);
  const Gather by_page{.to = pages, .from = t, .index = index, .rows_per_entry = 4};
  b.run(by_page);
  const int64_t page[] = {7, -1, 2};
  for (int r = 0; r < 12; ++r)
    for (int c = 0; c < 24; ++c)
      ASSERT_EQ(b.get<uint8_t>(pages, r, c),
                page[r / 4] < 0 ? 0 : element<uint8_t>(b, t, page[r / 4] * 4 + r % 4, c));
  ASSERT_EQ(b.segments(by_page).size(), 3u);
  EXPECT_EQ(b.segments(by_page)[1].bytes.value, 96);

  b.put_words(index, 0, {32});
  TileRef one = x;
  one.rows = 1;
  EXPECT_NE(b.refusal(Gather{.to = one, .from = t, .index = index}).find("names rows [32, 33)"),
            std::string::npos);
  b.put_words(index, 0, {-2});
  EXPECT_NE(b.refusal(Gather{.to = one, .from = t, .index = index}).find("-2"), std::string::npos);
}

TEST(Semantics, scatter) {
  Bench b;
  const TensorRef t = b.memory_tensor(Format::bf16, {3, 4, 20}),
                  slots = b.memory_tensor(Format::i32, {1, 8});
  fill_region(b, t);
  std::vector<std::byte> want(3 * 4 * 20 * 2), got(want.size());
  b.memory.read(b.bindings[0].base, want);
  b.put_words(slots, 0, {0, 6, -1, 11, -7});
  const TileRef x = b.tile(Space::vector, Format::bf16, 4, 5, 6);
  const int64_t slot[] = {6, -1, 11, -7};
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 5; ++c) {
      b.put(x, r, c, uint16_t(r * 100 + c));
      if (slot[r] >= 0) std::memcpy(want.data() + (slot[r] * 20 + 8 + c) * 2, b.at(x, r, c), 2);
    }
  const Scatter scatter{.to = {t.tensor, 0, 8}, .from = x, .slots = {slots.tensor, 0, 1}};
  b.run(scatter);
  b.memory.read(b.bindings[0].base, got);
  EXPECT_EQ(want, got);
  const auto segments = b.segments(scatter);
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_FALSE(segments[0].write);
  EXPECT_TRUE(segments[1].write);
  EXPECT_EQ(segments[2].address, b.context().address(t, 11, 8));
}

// A page table of two requests in front of a cache whose far pages lie beyond 32 bits of bytes.
struct Paged {
  static constexpr int64_t kPageTokens = 64, kRowBytes = 656, kPages = 200'000;
  Bench b;
  TensorRef cache, positions, rows, stamp, requests, blocks;

  Paged() {
    TensorDesc d = tensor(0, Format::u8, {kPages, kPageTokens, kRowBytes});
    const Bytes bytes(kPages * kPageTokens * kRowBytes);
    const Generator pattern = [](uint64_t offset, std::span<std::byte> to) {
      for (size_t i = 0; i < to.size(); ++i) to[i] = byte_at(offset + i);
    };
    b.bindings.push_back(
        {.name = "cache", .base = b.memory.reserve("cache", bytes, pattern), .bytes = bytes});
    b.tensors.push_back(d);
    cache = {.tensor = 0};
    positions = b.memory_tensor(Format::i32, {2, 8});
    rows = b.memory_tensor(Format::i32, {2, 8});
    stamp = b.memory_tensor(Format::i32, {2, 2});
    requests = b.memory_tensor(Format::i32, {2, 4});
    blocks = b.memory_tensor(Format::i32, {1, 16});
    b.put_words(requests, 0, {0, 3, 41, 0});
    b.put_words(requests, 1, {3, 4, 42, 0});
    b.put_words(blocks, 0, {1, 2, 3, 199'999, 0, 150'000, -1});
    b.put_words(positions, 1, {0, 63, 64, -1, 191, 130});
  }
  static std::byte byte_at(uint64_t offset) { return std::byte(offset * 0x9E3779B97F4A7C15 >> 56); }
  Translate translate(int32_t request) const {
    return {.to = {rows.tensor, 1, 1},
            .generation = {stamp.tensor, 1, 0},
            .positions = {positions.tensor, 1, 0},
            .requests = requests,
            .blocks = blocks,
            .request = request,
            .count = 6,
            .page_tokens = 64};
  }
};

TEST(Semantics, translate) {
  Paged p;
  const Translate t = p.translate(1);
  p.b.run(t);
  EXPECT_EQ(p.b.words(p.rows, 1, 7),
            (std::vector<int32_t>{0, 199'999 * 64, 199'999 * 64 + 63, 0, -1, 150'000 * 64 + 63,
                                  150'000 * 64 + 2}));
  EXPECT_EQ(p.b.words(p.stamp, 1, 2), (std::vector<int32_t>{42, 1}));
  // Positions in, table and stamp out; the walk apart from that.
  const auto segments = p.b.segments(t);
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_FALSE(segments[0].write);
  EXPECT_EQ(segments[0].bytes.value, 24);
  EXPECT_TRUE(segments[1].write);
  EXPECT_EQ(segments[1].address, p.b.context().address(p.rows, 1, 1));
  EXPECT_EQ(segments[2].bytes.value, 8);
  std::vector<int64_t> walked;
  const uint64_t base = p.b.context().address(p.blocks).value;
  t.for_each_walk(p.b.context(), [&](Address a) { walked.push_back(int64_t(a.value - base) / 4); });
  EXPECT_EQ(walked, (std::vector<int64_t>{3, 3, 4, 5, 5}));
  EXPECT_EQ(t.request_entry(p.b.context()), p.b.context().address(p.requests, 1, 0));

  p.b.put_words(p.positions, 1, {192});
  EXPECT_NE(p.b.refusal(p.translate(1)).find("page fault: position 192 of request 1"),
            std::string::npos);
  p.b.put_words(p.positions, 1, {256});
  EXPECT_NE(p.b.refusal(p.translate(1)).find("needs block 4"), std::string::npos);
  p.b.put_words(p.positions, 1, {-2});
  EXPECT_NE(p.b.refusal(p.translate(1)), "");
  p.b.put_words(p.positions, 1, {0});
  p.b.put_words(p.blocks, 0, {1, 2, 3, 40'000'000});
  EXPECT_NE(p.b.refusal(p.translate(1)).find("does not fit int32"), std::string::npos);
}

// Rows of pages whose byte offsets pass 32 bits, through a translated table, in both directions.
TEST(Movement, FarPages) {
  Paged p;
  p.b.run(p.translate(1));
  const TileRef x = p.b.tile(Space::vector, Format::u8, 6, 656);
  const Gather gather{.to = x,
                      .from = p.cache,
                      .index = {p.rows.tensor, 1, 1},
                      .generation = {p.stamp.tensor, 1, 0},
                      .requests = p.requests};
  p.b.run(gather);
  const int64_t row[] = {199'999 * 64, 199'999 * 64 + 63, 0,
                         -1,           150'000 * 64 + 63, 150'000 * 64 + 2};
  ASSERT_GT(row[0] * 656, int64_t{1} << 32);
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 656; ++c)
      ASSERT_EQ(std::byte(p.b.get<uint8_t>(x, r, c)),
                row[r] < 0 ? std::byte{0} : Paged::byte_at(uint64_t(row[r] * 656 + c)));
  TileRef back = x;
  back.rows = 1;
  p.b.put(back, 0, 0, uint8_t(0xAB));
  p.b.run(Scatter{.to = p.cache, .from = back, .slots = {p.rows.tensor, 1, 2}});
  EXPECT_EQ(p.b.memory.get<uint8_t>(p.b.context().address(p.cache, row[1], 0)), 0xAB);

  // Evicted and mapped again: the table is refused, and both generations are named.
  p.b.put_words(p.requests, 1, {3, 4, 57, 0});
  const std::string stale = p.b.refusal(gather);
  EXPECT_NE(stale.find("stale index table"), std::string::npos);
  EXPECT_NE(stale.find("generation 42"), std::string::npos);
  EXPECT_NE(stale.find("generation 57"), std::string::npos);
}

TEST(Movement, SteeringReadsOfPhantomDataAreRefused) {
  Paged p;
  p.b.run(p.translate(1));
  const TileRef x = p.b.tile(Space::vector, Format::u8, 6, 656);
  const Gather gather{.to = x,
                      .from = p.cache,
                      .index = {p.rows.tensor, 1, 1},
                      .generation = {p.stamp.tensor, 1, 0},
                      .requests = p.requests};
  const Scatter scatter{.to = p.cache, .from = x, .slots = {p.rows.tensor, 1, 1}};
  const ScalarLoad word{.from = p.positions};
  const auto phantom = [&](const TensorRef& t, const auto& instruction) {
    Binding& b = p.b.bindings[p.b.tensors[t.tensor].binding];
    b.phantom = true;
    const std::string message = p.b.refusal(instruction);
    b.phantom = false;
    return message.find("phantom") != std::string::npos &&
           message.find(b.name) != std::string::npos;
  };
  EXPECT_TRUE(phantom(p.rows, gather));
  EXPECT_TRUE(phantom(p.stamp, gather));
  EXPECT_TRUE(phantom(p.requests, gather));
  EXPECT_FALSE(phantom(p.cache, gather));  // its values do not steer
  EXPECT_TRUE(phantom(p.rows, scatter));
  EXPECT_TRUE(phantom(p.positions, p.translate(1)));
  EXPECT_TRUE(phantom(p.requests, p.translate(1)));
  EXPECT_TRUE(phantom(p.blocks, p.translate(1)));
  EXPECT_TRUE(phantom(p.positions, word));
}

TEST(Semantics, scalar_load) {
  Bench b;
  const TensorRef t = b.memory_tensor(Format::i32, {2, 3});
  const ScalarLoad good{.from = {t.tensor, 1, 2}};
  EXPECT_EQ(b.refusal(good), "");
  ASSERT_EQ(b.segments(good).size(), 1u);
  EXPECT_EQ(b.segments(good)[0].address.value, b.bindings[0].base.value + 20);
  EXPECT_NE(b.refusal(ScalarLoad{.from = {t.tensor, 2, 0}}), "");
}

// What only the chip's counters and clocks feel leaves every byte alone.
template <class I> void expect_no_effect(const I& instruction) {
  Bench b;
  const TileRef x = b.tile(Space::vector, Format::f32, 8, 8);
  b.randomise(x);
  const auto before = b.values(x);
  b.run(instruction);
  b.expect(x, before);
  EXPECT_TRUE(b.segments(instruction).empty());
}
TEST(Semantics, signal) { expect_no_effect(Signal{.semaphore = 3}); }
TEST(Semantics, wait) { expect_no_effect(Wait{.semaphore = 3, .count = 2}); }
TEST(Semantics, scalar_work) { expect_no_effect(ScalarWork{.operations = 12}); }

}  // namespace daybreak::isa::test
