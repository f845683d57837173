#include "kernels/runtime/plan/expert_seeds.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>

#include "configs/reader/errors.hpp"
#include "configs/reader/words.hpp"
#include "isa/instructions/detail/mxfp4.hpp"
#include "ref/numeric/convert.hpp"
#include "ref/numeric/random.hpp"

namespace daybreak::kernels {
namespace {

constexpr int kBlock = 32, kBlockBytes = 16, kGroup = 128;
// Scales of a block of 32 standard Gaussians: 2^-2 to 2^1 times 6 hold all but 1e-13 of their maxima.
constexpr int kLowest = -2, kScales = 4;
constexpr uint64_t kScaleStream = 1 << 20;

double below_gaussian(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

struct Tables {
  std::array<uint64_t, kScales> threshold;          // of 64 random bits, cumulative
  std::array<std::vector<uint8_t>, kScales> pairs;  // 16 random bits to two codes
  Tables() {
    double before = 0;
    for (int s = 0; s < kScales; ++s) {
      const double scale = std::ldexp(1.0, kLowest + s);
      // P(largest of 32 magnitudes <= 6 * scale).
      const double until = std::pow(std::erf(6 * scale / std::sqrt(2.0)), kBlock);
      before = s + 1 == kScales ? 1 : until;
      threshold[size_t(s)] = before >= 1 ? ~uint64_t{0} : uint64_t(before * 0x1p64);
      pairs[size_t(s)] = make_pairs(scale);
    }
  }
  static std::vector<uint8_t> make_pairs(double scale) {
    const double low = below_gaussian(-6 * scale), high = below_gaussian(6 * scale);
    std::array<uint8_t, 256> code;
    for (int i = 0; i < 256; ++i) {
      const double wanted = low + (high - low) * (i + 0.5) / 256;
      double from = -6 * scale, to = 6 * scale;
      for (int step = 0; step < 60; ++step) {
        const double middle = (from + to) / 2;
        (below_gaussian(middle) < wanted ? from : to) = middle;
      }
      code[size_t(i)] = numeric::encode_e2m1(float(from / scale));
    }
    std::vector<uint8_t> out(65536);
    for (size_t i = 0; i < out.size(); ++i) out[i] = uint8_t(code[i & 255] | code[i >> 8] << 4);
    return out;
  }
};

const Tables& tables() {
  static const Tables t;
  return t;
}

int scale_of_block(uint64_t seed, uint64_t stream, uint64_t block) {
  const uint64_t bits = numeric::mix(seed, stream + kScaleStream, block);
  int s = 0;
  while (s + 1 < kScales && bits > tables().threshold[size_t(s)]) ++s;
  return s;
}
uint8_t scale_byte(int s, int exponent) { return uint8_t(127 + kLowest + s + exponent); }

// Bytes [first, first + 16) of a block.
void block_codes(uint64_t seed, uint64_t stream, uint64_t block, uint8_t* to) {
  const auto& pairs = tables().pairs[size_t(scale_of_block(seed, stream, block))];
  for (int word = 0; word < 4; ++word) {
    const uint64_t bits = numeric::mix(seed, stream, block * 4 + uint64_t(word));
    for (int i = 0; i < 4; ++i) to[word * 4 + i] = pairs[bits >> 16 * i & 0xFFFF];
  }
}

// A generator of units of `size` bytes: fill(number, bytes).
template <class Fill> isa::Generator units(size_t size, Fill fill) {
  return [size, fill](uint64_t offset, std::span<std::byte> to) {
    std::vector<uint8_t> unit(size);
    for (size_t done = 0; done < to.size();) {
      const uint64_t at = offset + done, within = at % size;
      const size_t count = std::min<size_t>(size - within, to.size() - done);
      if (count == size) {
        fill(at / size, reinterpret_cast<uint8_t*>(to.data() + done));
      } else {
        fill(at / size, unit.data());
        std::memcpy(to.data() + done, unit.data() + within, count);
      }
      done += count;
    }
  };
}

// Groups of a row of `cols`: the last may be shorter.
struct Groups {
  int64_t cols;
  int64_t per_row() const { return (cols + kGroup - 1) / kGroup; }
  int64_t blocks(int64_t group) const {
    return std::min<int64_t>(kGroup, cols - group % per_row() * kGroup) / kBlock;
  }
  uint64_t first_block(int64_t group) const {
    return uint64_t(group / per_row() * (cols / kBlock) + group % per_row() * (kGroup / kBlock));
  }
};

float converted(uint64_t seed, uint64_t stream, int exponent, uint64_t first, int64_t blocks,
                uint8_t* codes) {
  std::array<uint8_t, kGroup / 2> bytes;
  std::array<uint8_t, kGroup / kBlock> scales;
  for (int64_t b = 0; b < blocks; ++b) {
    block_codes(seed, stream, first + uint64_t(b), bytes.data() + b * kBlockBytes);
    scales[size_t(b)] = scale_byte(scale_of_block(seed, stream, first + uint64_t(b)), exponent);
  }
  return isa::detail::convert_mx_group(bytes.data(), std::span(scales).first(size_t(blocks)),
                                       isa::NibbleOrder::low_first, 127, codes, nullptr);
}

// k of the experts without replacement, expert e with weight (e + 1)^-alpha: the k smallest of
// exponentials with these rates.
std::vector<int32_t> drawn(const ExpertWorkload& w, int64_t token) {
  std::vector<std::pair<double, int32_t>> keys;
  for (int64_t e = 0; e < w.model.experts; ++e) {
    const uint64_t bits =
        numeric::mix(w.seed, 0x4077 + kScaleStream, uint64_t(token * w.model.experts + e));
    const double uniform = (double(bits >> 11) + 0.5) * 0x1p-53;
    keys.emplace_back(-std::log(uniform) * std::pow(double(e + 1), w.alpha), int32_t(e));
  }
  std::partial_sort(keys.begin(), keys.begin() + w.model.topk, keys.end());
  std::vector<int32_t> out;
  for (int64_t i = 0; i < w.model.topk; ++i) out.push_back(keys[size_t(i)].second);
  return out;
}

std::vector<int32_t> from_file(const ExpertWorkload& w) {
  std::ifstream file(w.routing_file, std::ios::binary);
  if (!file) throw UserError("--routing " + w.routing_file + ": the file cannot be read");
  std::vector<int32_t> all(size_t(w.tokens * w.model.topk));
  file.read(reinterpret_cast<char*>(all.data()), std::streamsize(all.size() * 4));
  if (!file)
    throw UserError("--routing " + w.routing_file + ": it ends early; " + std::to_string(w.tokens) +
                    " rows of " + std::to_string(w.model.topk) + " int32 are needed");
  for (size_t i = 0; i < all.size(); ++i) {
    const bool first = int64_t(i) % w.model.topk == 0;
    const bool ends = all[i] == -1, after_end = !first && all[i - 1] == -1;
    if (all[i] < -1 || all[i] >= w.model.experts || (after_end && !ends) ||
        (!first && !ends && all[i] <= all[i - 1]))
      throw UserError(
          "--routing " + w.routing_file + ": token " + std::to_string(int64_t(i) / w.model.topk) +
          ", entry " + std::to_string(int64_t(i) % w.model.topk) +
          ": a row is ascending experts below " + std::to_string(w.model.experts) + ", then -1");
  }
  return all;
}

}  // namespace

isa::Generator mx_codes(uint64_t seed, uint64_t stream, int) {
  return units(kBlockBytes,
               [=](uint64_t block, uint8_t* to) { block_codes(seed, stream, block, to); });
}

isa::Generator mx_scales(uint64_t seed, uint64_t stream, int exponent) {
  return units(1, [=](uint64_t block, uint8_t* to) {
    *to = scale_byte(scale_of_block(seed, stream, block), exponent);
  });
}

isa::Generator mx_as_fp8(uint64_t seed, uint64_t stream, int exponent, int64_t cols) {
  return units(size_t(cols), [=](uint64_t row, uint8_t* to) {
    const Groups groups{cols};
    for (int64_t g = 0; g < groups.per_row(); ++g) {
      const int64_t group = int64_t(row) * groups.per_row() + g;
      converted(seed, stream, exponent, groups.first_block(group), groups.blocks(group),
                to + g * kGroup);
    }
  });
}

isa::Generator mx_as_fp8_scales(uint64_t seed, uint64_t stream, int exponent, int64_t cols) {
  return units(4, [=](uint64_t group, uint8_t* to) {
    const Groups groups{cols};
    std::array<uint8_t, kGroup> codes;
    const float scale = converted(seed, stream, exponent, groups.first_block(int64_t(group)),
                                  groups.blocks(int64_t(group)), codes.data());
    std::memcpy(to, &scale, 4);
  });
}

isa::Generator mx_as_bf16(uint64_t seed, uint64_t stream, int exponent) {
  return units(kBlock * 2, [=](uint64_t block, uint8_t* to) {
    std::array<uint8_t, kBlockBytes> bytes;
    block_codes(seed, stream, block, bytes.data());
    const float scale =
        numeric::decode_e8m0(scale_byte(scale_of_block(seed, stream, block), exponent));
    for (int i = 0; i < kBlock; ++i) {
      const float value = numeric::decode_e2m1(uint8_t(bytes[size_t(i / 2)] >> i % 2 * 4 & 15));
      const uint16_t bits = numeric::encode_bf16(value * scale);
      std::memcpy(to + 2 * i, &bits, 2);
    }
  });
}

std::vector<int32_t> routing_of(const ExpertWorkload& w) {
  if (w.routing == RoutingSource::file) return from_file(w);
  std::vector<int32_t> all;
  for (int64_t t = 0; t < w.tokens; ++t) {
    std::vector<int32_t> row;
    if (w.routing == RoutingSource::power_law) {
      row = drawn(w, t);
    } else {
      for (int64_t i = 0; i < w.model.topk; ++i)
        row.push_back(int32_t((t * w.model.topk + i) % w.model.experts));
    }
    std::sort(row.begin(), row.end());
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

void set_routing(ExpertWorkload& w, const std::string& word) {
  constexpr std::string_view kPower = "power-law:";
  if (word == "computed") {
    w.routing = RoutingSource::computed;
  } else if (word == "balanced") {
    w.routing = RoutingSource::balanced;
  } else if (word.starts_with(kPower)) {
    w.routing = RoutingSource::power_law;
    const char *from = word.data() + kPower.size(), *to = word.data() + word.size();
    const auto [end, error] = std::from_chars(from, to, w.alpha);
    if (error != std::errc() || end != to || !(w.alpha >= 0 && w.alpha <= 100))
      throw UserError("--routing: " + configs::in_quotes(word) +
                      " needs a number from 0 to 100 behind power-law:");
  } else {
    w.routing = RoutingSource::file;
    w.routing_file = word;
  }
}

}  // namespace daybreak::kernels
