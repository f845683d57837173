// Memory image, tensors and regions.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>

#include "configs/reader/errors.hpp"
#include "isa/memory/image.hpp"
#include "isa/program/region.hpp"

namespace daybreak::isa::test {

std::byte pattern(uint64_t offset) { return std::byte((offset * 0x9E3779B97F4A7C15) >> 56); }
const Generator kPattern = [](uint64_t offset, std::span<std::byte> to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] = pattern(offset + i);
};
template <class F> std::string refusal(F f) {
  try {
    f();
  } catch (const InvariantError& e) { return e.what(); }
  return {};
}

// A region of 1.4 TB reads and writes like an array of bytes, far beyond 32 bits.
TEST(MemoryImage, BehavesLikeBytes) {
  MemoryImage m;
  const Bytes size(int64_t{1400} << 30);
  const Address base = m.reserve("weights", size, kPattern);
  EXPECT_EQ(m.resident().value, 0);
  std::mt19937_64 random(1);
  std::unordered_map<uint64_t, std::byte> written;
  for (int i = 0; i < 3000; ++i) {
    const uint64_t hot = random() % 4 ? (random() % 4) * (uint64_t{300} << 30) : 0;
    const uint64_t at =
        std::min<uint64_t>(hot + random() % 300'000, uint64_t(size.value) - 200'000);
    std::vector<std::byte> bytes(random() % 10 ? random() % 700 : random() % 200'000);
    if (random() % 3 == 0) {
      for (auto& b : bytes) b = std::byte(random());
      bytes.resize(std::min<size_t>(bytes.size(), 700));
      m.write(Address(base.value + at), bytes);
      for (size_t j = 0; j < bytes.size(); ++j) written[at + j] = bytes[j];
    } else {
      m.read(Address(base.value + at), bytes);
      for (size_t j = 0; j < bytes.size(); ++j) {
        const auto it = written.find(at + j);
        ASSERT_EQ(bytes[j], it == written.end() ? pattern(at + j) : it->second);
      }
    }
    if (i % 500 == 0) m.drop_clean_pages();
  }
}

TEST(MemoryImage, DropsWhatItsGeneratorGivesBack) {
  MemoryImage m;
  const Address base = m.reserve("a", Bytes(10 * 65536), kPattern);
  int calls = 0;
  const Address counted =
      m.reserve("counted", Bytes(65536), [&](uint64_t, std::span<std::byte> to) {
        ++calls;
        std::memset(to.data(), 7, to.size());
      });
  for (int p = 0; p < 4; ++p) m.get<uint8_t>(Address(base.value + uint64_t(p) * 65536));
  m.get<uint8_t>(counted);
  m.get<uint8_t>(counted);
  EXPECT_EQ(calls, 1);
  m.put(Address(base.value + 65536 + 5), uint8_t(pattern(65536 + 5)));  // written, but the same
  m.put(Address(base.value + 2 * 65536), uint8_t(~uint8_t(pattern(131072))));  // changed
  EXPECT_EQ(m.resident().value, 5 * 65536);
  m.drop_clean_pages();
  EXPECT_EQ(m.resident().value, 65536);
  EXPECT_EQ(m.get<uint8_t>(Address(base.value + 2 * 65536)), uint8_t(~uint8_t(pattern(131072))));
  EXPECT_EQ(m.get<uint8_t>(counted), 7);
  EXPECT_EQ(calls, 2);
}

TEST(MemoryImage, PlainRegionsAreZerosAndCostNothingUntilWritten) {
  MemoryImage m;
  const Address a = m.reserve("a", Bytes(1 << 20));
  std::vector<std::byte> bytes(1 << 20, std::byte{9});
  m.read(a, bytes);
  EXPECT_EQ(bytes, std::vector<std::byte>(1 << 20));
  EXPECT_EQ(m.resident().value, 0);
  m.put(Address(a.value + 70'000), 0x12345678);
  EXPECT_EQ(m.get<int32_t>(Address(a.value + 70'000)), 0x12345678);
  EXPECT_EQ(m.resident().value, 65536);
}

TEST(MemoryImage, SmallRegionsShareAPage) {
  MemoryImage m;
  const Address a = m.reserve("a", Bytes(100), kPattern, 64);
  m.get<uint8_t>(a);  // the page exists before the second region does
  const Address b = m.reserve("b", Bytes(100), kPattern, 64);
  EXPECT_EQ(b.value, a.value + 128);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(m.get<std::byte>(Address(a.value + i)), pattern(i));
    EXPECT_EQ(m.get<std::byte>(Address(b.value + i)), pattern(i));
  }
}

TEST(MemoryImage, RefusesWhatIsOutside) {
  MemoryImage m;
  EXPECT_NE(refusal([&] { m.get<int>(Address(5)); }).find("nothing is reserved"),
            std::string::npos);
  const Address a = m.reserve("keys", Bytes(1000));
  m.reserve_at(Address(uint64_t{1} << 45), "far", Bytes(4096));
  EXPECT_NE(refusal([&] { m.get<int>(Address(a.value + 998)); }).find("keys+998"),
            std::string::npos);
  EXPECT_NE(
      refusal([&] { m.get<int>(Address(a.value + 1004)); }).find("4 bytes past the end of keys"),
      std::string::npos);
  EXPECT_NE(
      refusal([&] { m.get<int>(Address((uint64_t{1} << 45) - 16)); }).find("16 bytes before far"),
      std::string::npos);
  EXPECT_NE(refusal([&] { m.put(Address(0), 1); }).find("before keys"), std::string::npos);
  EXPECT_NE(
      refusal([&] { m.reserve_at(Address(a.value + 999), "x", Bytes(10)); }).find("overlaps keys"),
      std::string::npos);
  EXPECT_NE(
      refusal([&] { m.reserve_at(Address(a.value - 9), "x", Bytes(10)); }).find("overlaps keys"),
      std::string::npos);
  EXPECT_NE(refusal([&] { m.reserve_at(Address(~uint64_t{0} - 5), "x", Bytes(10)); }), "");
  EXPECT_EQ(m.name_of(Address(a.value + 12)), "keys+12");
  EXPECT_GT(m.reserve("after", Bytes(1)).value, uint64_t{1} << 45);
}

TEST(TensorDesc, RowsOfPaddedPages) {
  TensorDesc t = tensor(3, Format::u8, {10, 64, 132});
  EXPECT_EQ(t.rows(), 640);
  EXPECT_EQ(t.offset_of(65, 7), (64 + 1) * 132 + 7);
  t.strides = {-100'000, 132, 1};  // pages downwards, with gaps
  t.offset = 5'000'000;
  EXPECT_EQ(t.offset_of(65, 7), 5'000'000 - 100'000 + 132 + 7);
  EXPECT_EQ(t.offset_of(-1, 0), 5'000'000 + 100'000 + 63 * 132);
  const TensorDesc huge = tensor(0, Format::bf16, {int64_t{1} << 33, 576});
  EXPECT_EQ(huge.offset_of((int64_t{1} << 33) - 1, 575), ((int64_t{1} << 33) - 1) * 1152 + 1150);
  EXPECT_EQ(tensor(0, Format::e2m1, {2, 64}).offset_of(1, 6), 32 + 3);
  EXPECT_NE(refusal([] { tensor(0, Format::f32, {1, 1, 1, 1, 1, 1}); }), "");
  EXPECT_NE(refusal([] { tensor(0, Format::f32, {-1}); }), "");
}

std::set<int64_t> bytes_of_region(const Region& r) {
  std::set<int64_t> all;
  for (int64_t i = 0; i < r.rows; ++i)
    for (int64_t b = 0; b < r.row_bytes; ++b) all.insert(r.begin + i * r.pitch + b);
  return all;
}

TEST(Region, OverlapAndCoverAgainstSetsOfBytes) {
  std::mt19937 random(3);
  const auto below = [&](int n) { return int64_t(random() % unsigned(n)); };
  int exact = 0;
  for (int i = 0; i < 30000; ++i) {
    const int64_t pitch = 8 + below(9);
    const auto any = [&](int64_t p) {
      return Region{below(60), below(5), p, std::min<int64_t>(p, below(14))};
    };
    const Region a = any(pitch), b = any(below(3) ? pitch : 8 + below(9));
    const auto x = bytes_of_region(a), y = bytes_of_region(b);
    bool meet = false, inside = true;
    for (int64_t v : y) {
      meet |= x.contains(v);
      inside &= x.contains(v);
    }
    const bool decidable = a.pitch == b.pitch || a.rows <= 1 || b.rows <= 1;
    if (decidable)
      ASSERT_EQ(overlap(a, b), meet)
          << a.begin << " " << a.rows << " " << a.pitch << " " << a.row_bytes << " | " << b.begin
          << " " << b.rows << " " << b.pitch << " " << b.row_bytes;
    else
      ASSERT_TRUE(overlap(a, b) || !meet);
    ASSERT_EQ(overlap(a, b), overlap(b, a));
    ASSERT_TRUE(inside || !covers(a, b));
    exact += covers(a, b) && !y.empty();
  }
  EXPECT_GT(exact, 100);
}

// The region of a rectangle holds every byte of it.
TEST(Region, OfTensorsHoldsEveryElement) {
  std::mt19937 random(4);
  const auto between = [&](int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  };
  for (int i = 0; i < 5000; ++i) {
    TensorDesc t{
        .format = Format::bf16, .rank = uint8_t(between(1, 4)), .offset = between(0, 1000)};
    for (int d = 0; d < t.rank; ++d) {
      t.dims[d] = between(1, 4);
      t.strides[d] = between(0, 6) * 8 * (random() % 4 ? 1 : -1);
    }
    t.strides[t.rank - 1] = 2;
    if (random() % 2) {
      t.strides[t.rank - 1] = 2;
      for (int d = t.rank - 2; d >= 0; --d)
        t.strides[d] = t.strides[d + 1] * t.dims[d + 1] + (d == 0 ? between(0, 1) * 8 : 0);
    }
    const int64_t row = between(-2, 3), col = between(-1, 2), rows = between(1, 12),
                  cols = between(1, 4);
    const auto all = bytes_of_region(region_of(t, row, col, rows, cols));
    for (int64_t r = std::max<int64_t>(row, 0); r < std::min(row + rows, t.rows()); ++r)
      for (int64_t c = std::max<int64_t>(col, 0); c < std::min(col + cols, t.cols()); ++c)
        for (int64_t b = 0; b < 2; ++b) ASSERT_TRUE(all.contains(t.offset_of(r, c) + b));
  }
}

TEST(Region, CodesAndScalesOfOnePageDoNotMeet) {
  TensorDesc codes = tensor(0, Format::e4m3, {100, 64, 128}),
             scales = tensor(0, Format::f32, {100, 64});
  codes.strides[0] = scales.strides[0] = 8448;
  scales.offset = 8192;
  EXPECT_FALSE(
      overlap(region_of(codes, 0, 0, codes.rows(), 128), region_of(scales, 0, 0, 100, 64)));
  scales.offset = 8191;
  EXPECT_TRUE(overlap(region_of(codes, 0, 0, codes.rows(), 128), region_of(scales, 0, 0, 100, 64)));
}

}  // namespace daybreak::isa::test
