#include "isa/instructions/detail/mxfp4.hpp"

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "ref/numeric/convert.hpp"

namespace daybreak::isa::detail {

namespace {

// A block lies d = byte - G binades over its group's scale. G = top - 6 keeps d at 6 or below; from -13
// on every code rounds to a zero of its sign.
constexpr int kHighest = 6, kLowest = -13, kFirstExact = -8, kNanByte = 255;

using Table = std::array<std::array<uint8_t, 16>, kHighest - kLowest + 1>;

const Table& tables() {
  static const Table table = [] {
    Table t;
    for (int d = kLowest; d <= kHighest; ++d)
      for (int code = 0; code < 16; ++code)
        t[size_t(d - kLowest)][size_t(code)] = numeric::shift_e2m1_to_e4m3(uint8_t(code), d);
    return t;
  }();
  return table;
}

// 16 bytes of nibbles through a table of 16 codes, in the order of the elements.
void convert_block(const uint8_t* bytes, const std::array<uint8_t, 16>& table, NibbleOrder order,
                   uint8_t* to) {
  const __m128i lookup = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table.data()));
  const __m128i raw = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const __m128i mask = _mm_set1_epi8(0x0F);
  const __m128i low = _mm_shuffle_epi8(lookup, _mm_and_si128(raw, mask));
  const __m128i high = _mm_shuffle_epi8(lookup, _mm_and_si128(_mm_srli_epi16(raw, 4), mask));
  __m128i first = low, second = high;
  if (order == NibbleOrder::low_first) {
    first = _mm_unpacklo_epi8(low, high), second = _mm_unpackhi_epi8(low, high);
  } else if (order == NibbleOrder::high_first) {
    first = _mm_unpacklo_epi8(high, low), second = _mm_unpackhi_epi8(high, low);
  }
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), first);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16), second);
}

bool has_value(const uint8_t* bytes) {
  uint64_t a, b;
  std::memcpy(&a, bytes, 8);
  std::memcpy(&b, bytes + 8, 8);
  return ((a | b) & 0x7777777777777777u) != 0;
}

// Largest error of a group that may not be exact, as a share of its largest magnitude.
double error_of(const uint8_t* bytes, std::span<const uint8_t> scales, int g) {
  double largest = 0, worst = 0;
  for (size_t b = 0; b < scales.size(); ++b) {
    if (scales[b] == kNanByte) continue;
    for (int i = 0; i < kMxBlock; ++i) {
      const uint8_t code = uint8_t(bytes[b * kMxBlockBytes + size_t(i / 2)] >> i % 2 * 4 & 15);
      const int d = scales[b] - g;
      const double value = std::ldexp(double(numeric::decode_e2m1(code)), d);
      const int row = std::clamp(d, kLowest, kHighest) - kLowest;  // above: zeros only
      const double got = numeric::decode_e4m3(tables()[size_t(row)][code]);
      largest = std::max(largest, std::fabs(value));
      worst = std::max(worst, std::fabs(value - got));
    }
  }
  return largest > 0 ? worst / largest : 0;
}

}  // namespace

float convert_mx_group(const uint8_t* bytes, std::span<const uint8_t> scales, NibbleOrder order,
                       int bias, uint8_t* to, ConversionCounters* counters) {
  int top = -1, bottom = kNanByte, nan_blocks = 0;
  for (size_t b = 0; b < scales.size(); ++b) {
    if (scales[b] == kNanByte) {
      ++nan_blocks;
    } else if (has_value(bytes + b * kMxBlockBytes)) {
      top = std::max<int>(top, scales[b]);
      bottom = std::min<int>(bottom, scales[b]);
    }
  }
  const int g = top < 0 ? bias : std::clamp(top - kHighest, 1, 254);
  for (size_t b = 0; b < scales.size(); ++b) {
    uint8_t* codes = to + b * kMxBlock;
    if (scales[b] == kNanByte) {
      std::memset(codes, 0x7F, kMxBlock);
      continue;
    }
    const int d = std::clamp(int(scales[b]) - g, kLowest, kHighest);  // above: zeros only
    convert_block(bytes + b * kMxBlockBytes, tables()[size_t(d - kLowest)], order, codes);
  }
  if (counters) {
    counters->nan_blocks += nan_blocks;
    const double error = top >= 0 && bottom - g < kFirstExact ? error_of(bytes, scales, g) : 0;
    ++(error > 0 ? counters->inexact_groups : counters->exact_groups);
    counters->largest_error = std::max(counters->largest_error, error);
  }
  return std::ldexp(1.0f, g - bias);
}

}  // namespace daybreak::isa::detail
