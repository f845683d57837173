#include "ref/ops/mxfp4.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ref/ops/check.hpp"
#include "ref/ops/formats.hpp"

namespace daybreak::ref {
namespace {

constexpr int kBlock = 32, kBytes = 16;
constexpr int kLowest = -40, kHighest = 40;  // binades between a block's scale and its group's

// E4M3 value of an E2M1 code `d` binades up; beyond the table every value is zero or 448.
double shifted(uint8_t code, int d) {
  static const auto table = [] {
    std::array<std::array<double, 16>, kHighest - kLowest + 1> t;
    for (int at = kLowest; at <= kHighest; ++at)
      for (int c = 0; c < 16; ++c)
        t[size_t(at - kLowest)][size_t(c)] =
            e4m3_value(nearest_e4m3(std::ldexp(e2m1_value(uint8_t(c)), at)));
    return t;
  }();
  return table[size_t(std::clamp(d, kLowest, kHighest) - kLowest)][code];
}

}  // namespace

void unpack_block(const uint8_t* bytes, Nibbles order, uint8_t* codes) {
  for (int j = 0; j < kBytes; ++j) {
    const uint8_t low = bytes[j] % 16, high = bytes[j] / 16;
    if (order == Nibbles::split) {
      codes[j] = low, codes[j + kBytes] = high;
    } else {
      codes[2 * j] = order == Nibbles::low_first ? low : high;
      codes[2 * j + 1] = order == Nibbles::low_first ? high : low;
    }
  }
}

float convert_group(std::span<const uint8_t> bytes, std::span<const uint8_t> scales,
                    const MxLayout& layout, double* values, bool* exact) {
  require(bytes.size() == scales.size() * kBytes, "an MXFP4 group of another size than its blocks");
  std::array<uint8_t, kBlock> codes;
  int top = -1;
  for (size_t b = 0; b < scales.size(); ++b) {
    if (scales[b] == 255) continue;
    bool any = false;
    for (const uint8_t byte : bytes.subspan(b * kBytes, kBytes))
      any |= byte % 8 != 0 || byte / 16 % 8 != 0;
    if (any) top = std::max<int>(top, scales[b]);
  }
  const int group = top < 0 ? layout.bias : std::clamp(top - 6, 1, 254);
  for (size_t b = 0; b < scales.size(); ++b) {
    unpack_block(bytes.data() + b * kBytes, layout.nibbles, codes.data());
    double* to = values + b * kBlock;
    if (scales[b] == 255) {
      std::fill_n(to, kBlock, std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const int d = scales[b] - group;
    for (int i = 0; i < kBlock; ++i) to[i] = shifted(codes[size_t(i)], d);
    if (exact)
      for (int i = 0; i < kBlock; ++i)
        *exact &= to[i] == std::ldexp(double(e2m1_value(codes[size_t(i)])), d);
  }
  return std::ldexp(1.0f, group - layout.bias);
}

MxGroup convert_group(std::span<const uint8_t> bytes, std::span<const uint8_t> scales,
                      const MxLayout& layout) {
  MxGroup g;
  g.values.resize(scales.size() * kBlock);
  g.scale = convert_group(bytes, scales, layout, g.values.data(), &g.exact);
  return g;
}

}  // namespace daybreak::ref
