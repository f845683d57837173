// A core and a memory to execute single instructions on, with number formats of its own: the oracles of
// these tests share nothing with the code they judge.
#pragma once
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "configs/reader/errors.hpp"
#include "isa/instructions/list.hpp"

namespace daybreak::isa::test {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline const float kNan = std::bit_cast<float>(0x7FC00000u);

inline float plain_bf16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }
inline uint16_t plain_bf16(float x) {
  if (x != x) return 0x7FC0;
  const uint32_t bits = std::bit_cast<uint32_t>(x), low = bits & 0xFFFF, high = bits >> 16;
  return uint16_t(high + (low > 0x8000 || (low == 0x8000 && (high & 1))));
}
inline float plain_e4m3(uint8_t code) {
  const int exponent = code >> 3 & 15, fraction = code & 7;
  if (exponent == 15 && fraction == 7) return kNan;
  const double v = exponent ? std::ldexp(8 + fraction, exponent - 10) : std::ldexp(fraction, -9);
  return float(code & 0x80 ? -v : v);
}
// Nearest code by search, ties to the even one, saturating.
inline uint8_t plain_e4m3(float x) {
  if (x != x) return 0x7F;
  static const std::vector<double> values = [] {
    std::vector<double> v;
    for (int code = 0; code < 0x7F; ++code) v.push_back(plain_e4m3(uint8_t(code)));
    return v;
  }();
  const double m = std::fabs(double(x));
  size_t best = 0;
  for (size_t code = 0; code < values.size(); ++code) {
    const double d = std::fabs(m - values[code]), b = std::fabs(m - values[best]);
    if (d < b || (d == b && code % 2 == 0)) best = code;
  }
  return uint8_t(best | (std::signbit(x) ? 0x80 : 0));
}

// Equal as bits, all NaN alike.
inline bool same(float a, float b) {
  return (a != a && b != b) || std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

class Bench {
 public:
  static constexpr int64_t kScratch = 1 << 21;
  Scratch scratch{{Bytes(kScratch), Bytes(kScratch), Bytes(kScratch)}};
  MemoryImage memory;
  std::vector<TensorDesc> tensors;
  BindingTable bindings;
  std::mt19937 random{12345};

  Context context() { return {scratch, memory, tensors, bindings}; }
  template <class I> void run(const I& instruction) {
    Context c = context();
    execute(Instruction(instruction), c);
  }

  // A fresh tile; `gap` bytes between its rows.
  TileRef tile(Space space, Format format, uint32_t rows, uint32_t cols, uint32_t gap = 0) {
    const uint32_t row = uint32_t(bytes_of(format, cols));
    TileRef t{.id = ++tiles_,
              .space = space,
              .format = format,
              .offset = used_[int(space)],
              .pitch = row + gap,
              .rows = rows,
              .cols = cols};
    used_[int(space)] += (rows * t.pitch + 63) / 64 * 64;
    return t;
  }
  std::byte* at(const TileRef& t, int64_t r, int64_t c) {
    return scratch.bytes(t.space).data() + t.offset + r * int64_t(t.pitch) + bytes_of(t.format, c);
  }
  template <class T> T get(const TileRef& t, int64_t r, int64_t c) {
    T v;
    std::memcpy(&v, at(t, r, c), sizeof(T));
    return v;
  }
  template <class T> void put(const TileRef& t, int64_t r, int64_t c, T v) {
    std::memcpy(at(t, r, c), &v, sizeof(T));
  }
  float value(const TileRef& t, int64_t r, int64_t c) {
    if (t.format == Format::bf16) return plain_bf16(get<uint16_t>(t, r, c));
    if (t.format == Format::e4m3) return plain_e4m3(get<uint8_t>(t, r, c));
    return get<float>(t, r, c);
  }
  void set(const TileRef& t, int64_t r, int64_t c, float x) {
    if (t.format == Format::bf16) return put(t, r, c, plain_bf16(x));
    if (t.format == Format::e4m3) return put(t, r, c, plain_e4m3(x));
    put(t, r, c, x);
  }
  // What x becomes when it is written to a tile of this format.
  static float rounded(Format format, float x) {
    if (format == Format::bf16) return plain_bf16(plain_bf16(x));
    if (format == Format::e4m3) return plain_e4m3(plain_e4m3(x));
    return x;
  }
  float uniform(float low, float high) {
    return std::uniform_real_distribution<float>(low, high)(random);
  }
  int64_t integer(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  void randomise(const TileRef& t, float low = -4, float high = 4) {
    for (uint32_t r = 0; r < t.rows; ++r)
      for (uint32_t c = 0; c < t.cols; ++c) set(t, r, c, uniform(low, high));
  }
  // One in ten an edge: zeros of both signs, infinities, NaN, the ends of the range.
  void randomise_with_edges(const TileRef& t) {
    const float edges[] = {0.0f, -0.0f, kInf, -kInf, kNan, 3e38f, -3e38f, 1e-42f};
    randomise(t);
    for (uint32_t r = 0; r < t.rows; ++r)
      for (uint32_t c = 0; c < t.cols; ++c)
        if (integer(0, 9) == 0) set(t, r, c, edges[integer(0, 7)]);
  }
  // All of a tile as values.
  std::vector<std::vector<float>> values(const TileRef& t) {
    std::vector<std::vector<float>> v(t.rows, std::vector<float>(t.cols));
    for (uint32_t r = 0; r < t.rows; ++r)
      for (uint32_t c = 0; c < t.cols; ++c) v[r][c] = value(t, r, c);
    return v;
  }
  void expect(const TileRef& t, const std::vector<std::vector<float>>& want) {
    for (uint32_t r = 0; r < t.rows; ++r)
      for (uint32_t c = 0; c < t.cols; ++c)
        ASSERT_TRUE(same(value(t, r, c), rounded(t.format, want[r][c])))
            << "row " << r << " column " << c << ": " << value(t, r, c) << ", want "
            << rounded(t.format, want[r][c]);
  }

  // A packed tensor over a fresh region of memory; returns a view of its corner.
  TensorRef memory_tensor(Format format, std::initializer_list<int64_t> dims,
                          OutOfBounds rule = OutOfBounds::fault) {
    TensorDesc d = tensor(uint16_t(bindings.size()), format, dims);
    d.out_of_bounds = rule;
    const Bytes bytes(bytes_of(format, d.rows() * d.cols()));
    const std::string name = "b" + std::to_string(bindings.size());
    bindings.push_back({.name = name, .base = memory.reserve(name, bytes), .bytes = bytes});
    tensors.push_back(d);
    return {.tensor = uint16_t(tensors.size() - 1)};
  }
  void put_words(const TensorRef& view, int64_t row, const std::vector<int32_t>& words) {
    for (size_t i = 0; i < words.size(); ++i)
      memory.put(context().address(view, row, int64_t(i)), words[i]);
  }
  std::vector<int32_t> words(const TensorRef& view, int64_t row, int64_t count) {
    std::vector<int32_t> out;
    for (int64_t i = 0; i < count; ++i)
      out.push_back(memory.get<int32_t>(context().address(view, row, i)));
    return out;
  }
  template <class I> std::vector<Segment> segments(const I& instruction) {
    std::vector<Segment> out;
    for_each_segment(Instruction(instruction), context(),
                     [&](const Segment& s) { out.push_back(s); });
    return out;
  }
  // The message of the InvariantError that running it throws; empty if it does not.
  template <class I> std::string refusal(const I& instruction) {
    try {
      run(instruction);
    } catch (const InvariantError& e) { return e.what(); }
    return {};
  }

 private:
  uint32_t tiles_ = 0;
  std::array<uint32_t, kSpaces> used_{};
};

inline int64_t count(const Work& w, VectorClass c) { return w.elements[int(c)]; }

}  // namespace daybreak::isa::test
