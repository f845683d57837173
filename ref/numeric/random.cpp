// Counter-based random numbers.
#include "ref/numeric/random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "ref/numeric/convert.hpp"

namespace daybreak::numeric {
namespace {

constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio

// The output function of SplitMix64: a bijection in which every input bit reaches every output bit.
constexpr uint64_t finalise(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

constexpr uint64_t key_of(uint64_t seed, uint64_t stream) {
  return finalise(finalise(seed + kGolden) ^ (stream * kGolden + 0xD1B54A32D192ED03));
}

constexpr uint64_t draw(uint64_t key, uint64_t index) { return finalise(key + index * kGolden); }

// x with P(normal > x) = tail, tail in (0, 1/2]: Halley steps on erfc from a rough start.
double upper_quantile(double tail) {
  const double t = std::sqrt(-2 * std::log(tail));
  double x = std::max(0.0, t - (2.30753 + 0.27061 * t) / (1 + t * (0.99229 + t * 0.04481)));
  for (int step = 0; step < 4; ++step) {
    const double density = std::exp(-0.5 * x * x) / std::sqrt(2 * 3.14159265358979323846);
    const double error = (0.5 * std::erfc(x / std::sqrt(2.0)) - tail) / density;
    x += error / (1 - 0.5 * x * error);
  }
  return x;
}

// BF16 bits of the normal quantile of (i + 1/2) / 65536.
std::vector<uint16_t> make_quantiles() {
  constexpr int kHalf = 32768;
  std::vector<uint16_t> table(2 * kHalf);
  for (int i = 0; i < kHalf; ++i) {
    const uint16_t bits = encode_bf16(float(upper_quantile((i + 0.5) / (2 * kHalf))));
    table[2 * kHalf - 1 - i] = bits;
    table[i] = bits | 0x8000;
  }
  return table;
}

}  // namespace

uint64_t mix(uint64_t seed, uint64_t stream, uint64_t index) {
  return draw(key_of(seed, stream), index);
}

uint64_t below(uint64_t bits, uint64_t bound) {
  return uint64_t((static_cast<unsigned __int128>(bits) * bound) >> 64);
}

void gaussian_bf16(uint64_t seed, uint64_t stream, uint64_t first, std::span<float> to) {
  static const std::vector<uint16_t> quantiles = make_quantiles();
  const uint16_t* table = quantiles.data();
  const uint64_t key = key_of(seed, stream);
  const auto value = [table](uint64_t bits) { return decode_bf16(table[bits & 0xFFFF]); };
  size_t i = 0;
  for (; i < to.size() && (first + i) % 4 != 0; ++i)
    to[i] = value(draw(key, (first + i) / 4) >> (first + i) % 4 * 16);
  for (; i + 4 <= to.size(); i += 4) {
    const uint64_t bits = draw(key, (first + i) / 4);
    to[i] = value(bits);
    to[i + 1] = value(bits >> 16);
    to[i + 2] = value(bits >> 32);
    to[i + 3] = value(bits >> 48);
  }
  for (; i < to.size(); ++i) to[i] = value(draw(key, (first + i) / 4) >> (first + i) % 4 * 16);
}

}  // namespace daybreak::numeric
