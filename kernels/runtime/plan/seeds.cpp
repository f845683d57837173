#include "kernels/runtime/plan/seeds.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>

#include "kernels/library/dsa/layouts.hpp"
#include "ref/numeric/convert.hpp"
#include "ref/numeric/random.hpp"

namespace daybreak::kernels {
namespace {

constexpr int kKey = 128, kLatent = 512, kRope = 64;

// Calls f(first element, count, bytes) for the elements of `size` bytes that [offset, offset + to) covers.
// Generators are asked for whole pages, and element sizes divide the page size.
template <class F>
void whole_elements(uint64_t offset, std::span<std::byte> to, size_t size, F&& f) {
  f(offset / size, to.size() / size, to.data());
}

// Rotates `x` (64 values) by one row of a RopeTable.
void rotate(float* x, std::span<const float> angles, bool interleaved) {
  const int half = kRope / 2;
  std::array<float, kRope> y;
  for (int i = 0; i < half; ++i) {
    const int a = interleaved ? 2 * i : i, b = interleaved ? 2 * i + 1 : i + half;
    const float c = angles[size_t(i)], s = angles[size_t(i + half)];
    y[size_t(a)] = x[a] * c - x[b] * s;
    y[size_t(b)] = x[a] * s + x[b] * c;
  }
  std::copy(y.begin(), y.end(), x);
}

void hadamard(float* x) {
  for (int step = 1; step < kKey; step *= 2)
    for (int block = 0; block < kKey; block += 2 * step)
      for (int i = block; i < block + step; ++i) {
        const float a = x[i], b = x[i + step];
        x[i] = a + b;
        x[i + step] = a - b;
      }
  for (int i = 0; i < kKey; ++i) x[i] *= 0.08838834764831845f;
}

void round_bf16(float* x, int n) {
  std::array<uint16_t, kLatent> bits;
  numeric::encode_bf16(std::span(x, size_t(n)), bits.data());
  numeric::decode_bf16(std::span<const uint16_t>(bits.data(), size_t(n)), x);
}

// Eight partial sums, so that the loop vectorises to the same bits in every build.
template <class F> float sum(int n, F&& term) {
  std::array<float, 8> part{};
  for (int i = 0; i < n; i += 8)
    for (int j = 0; j < 8; ++j) part[size_t(j)] += term(i + j);
  return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

void layer_norm(float* x, const float* weight, const float* bias, float epsilon) {
  const float mean = sum(kKey, [&](int i) { return x[i]; }) / kKey;
  const float variance = sum(kKey, [&](int i) { return (x[i] - mean) * (x[i] - mean); }) / kKey;
  const float scale = 1 / std::sqrt(variance + epsilon);
  for (int i = 0; i < kKey; ++i) x[i] = (x[i] - mean) * scale * weight[i] + bias[i];
}

void rms_norm(float* x, const float* weight, float epsilon) {
  const float mean = sum(kLatent, [&](int i) { return x[i] * x[i]; }) / kLatent;
  const float scale = 1 / std::sqrt(mean + epsilon);
  for (int i = 0; i < kLatent; ++i) x[i] = x[i] * scale * weight[i];
}

std::vector<float> affine(uint64_t seed, Stream stream, int n, float mean, float deviation) {
  std::vector<float> v(static_cast<size_t>(n));
  numeric::gaussian_bf16(seed, uint64_t(stream), 0, v);
  for (float& x : v) x = mean + deviation * x;
  return v;
}

numeric::ScaleRule rule_of(const Workload& w) {
  return w.power_of_two_scales ? numeric::ScaleRule::ue8m0_ceil : numeric::ScaleRule::plain;
}

// A generator of one cache, `chunk_tokens` of a page at a time: `fill(entry, position, chunk bytes, token of
// the chunk)`.
template <class Fill>
isa::Generator cache(std::shared_ptr<const PagePlacement> placement, int64_t chunk_tokens,
                     size_t chunk_bytes, Fill fill) {
  return [placement, chunk_tokens, chunk_bytes, fill](uint64_t offset, std::span<std::byte> to) {
    std::vector<std::byte> chunk(chunk_bytes);
    const int64_t page_tokens = placement->page_tokens;
    for (size_t done = 0; done < to.size();) {
      const uint64_t at = offset + done;
      const int64_t row = int64_t(at / chunk_bytes) * chunk_tokens, number = row / page_tokens;
      const size_t within = at % chunk_bytes,
                   count = std::min(chunk_bytes - within, to.size() - done);
      std::fill(chunk.begin(), chunk.end(), std::byte{0});
      const int32_t entry = number < placement->pages ? placement->entry[size_t(number)] : -1;
      if (entry >= 0) {
        const int32_t request = placement->request[size_t(entry)];
        const int64_t block = entry - placement->first[size_t(request)];
        for (int64_t token = 0; token < chunk_tokens; ++token)
          fill(entry, block * page_tokens + row % page_tokens + token, chunk.data(), token);
      }
      std::memcpy(to.data() + done, chunk.data() + within, count);
      done += count;
    }
  };
}

}  // namespace

RopeTable::RopeTable(const RopeConfig& rope, int64_t dim, double magnitude)
    : dim_(dim), magnitude_(magnitude), frequency_(size_t(dim / 2)) {
  auto correction = [&](double rotations) {
    return double(dim) *
           std::log(double(rope.original_positions) / (2 * std::numbers::pi * rotations)) /
           (2 * std::log(rope.theta));
  };
  const double low = std::max(std::floor(correction(rope.beta_fast)), 0.0);
  const double high = std::min(std::ceil(correction(rope.beta_slow)), double(dim - 1));
  for (size_t i = 0; i < frequency_.size(); ++i) {
    double f = std::pow(rope.theta, -2.0 * double(i) / double(dim));
    if (rope.yarn) {
      const double ramp = std::clamp((double(i) - low) / std::max(high - low, 0.001), 0.0, 1.0);
      f = f / rope.factor * ramp + f * (1 - ramp);
    }
    frequency_[i] = f;
  }
}

std::span<const float> RopeTable::row(int64_t position) const {
  const size_t chunk = size_t(position / kChunk), half = frequency_.size();
  if (chunk >= chunks_.size()) chunks_.resize(chunk + 1);
  auto& angles = chunks_[chunk];
  if (angles.empty()) {
    angles.resize(size_t(kChunk * dim_));
    for (size_t p = 0; p < size_t(kChunk); ++p)
      for (size_t i = 0; i < half; ++i) {
        const double angle = double(chunk * size_t(kChunk) + p) * frequency_[i];
        angles[p * 2 * half + i] = float(std::cos(angle) * magnitude_);
        angles[p * 2 * half + half + i] = float(std::sin(angle) * magnitude_);
      }
  }
  return std::span(angles).subspan(size_t(position % kChunk * dim_), size_t(dim_));
}

isa::Generator rope_rows(std::shared_ptr<const RopeTable> table) {
  return [table](uint64_t offset, std::span<std::byte> to) {
    const size_t row = size_t(table->dim()) * 4;
    for (size_t done = 0; done < to.size();) {
      const size_t within = (offset + done) % row, count = std::min(row - within, to.size() - done);
      const auto values = std::as_bytes(table->row(int64_t((offset + done) / row)));
      std::memcpy(to.data() + done, values.data() + within, count);
      done += count;
    }
  };
}

PagePlacement place_pages(const Workload& w, int64_t page_tokens, uint64_t stream) {
  PagePlacement out{
      .page_tokens = page_tokens, .first = {0}, .page = {}, .entry = {}, .request = {}};
  for (int64_t r = 0; r < w.batch; ++r) {
    const int64_t room = std::max(w.context_of(r), w.reserve);
    const int64_t blocks = (room + page_tokens - 1) / page_tokens;
    out.first.push_back(out.first.back() + blocks);
    out.request.insert(out.request.end(), size_t(blocks), int32_t(r));
  }
  out.pages = std::max<int64_t>(out.first.back(), 1);
  out.page.resize(size_t(out.first.back()));
  std::iota(out.page.begin(), out.page.end(), 0);
  for (size_t i = w.reserve > 0 ? 0 : out.page.size(); i > 1; --i)
    std::swap(out.page[i - 1], out.page[numeric::below(numeric::mix(w.seed, stream, i), i)]);
  out.entry.assign(size_t(out.pages), -1);
  for (size_t i = 0; i < out.page.size(); ++i) out.entry[size_t(out.page[i])] = int32_t(i);
  return out;
}

isa::Generator gaussian_bf16(uint64_t seed, Stream stream, float deviation) {
  return [=](uint64_t offset, std::span<std::byte> to) {
    whole_elements(offset, to, 2, [&](uint64_t first, size_t count, std::byte* bytes) {
      std::vector<float> values(count);
      numeric::gaussian_bf16(seed, uint64_t(stream), first, values);
      for (float& x : values) x *= deviation;
      numeric::encode_bf16(values, reinterpret_cast<uint16_t*>(bytes));
    });
  };
}

isa::Generator gaussian_f32(uint64_t seed, Stream stream, float mean, float deviation) {
  return [=](uint64_t offset, std::span<std::byte> to) {
    whole_elements(offset, to, 4, [&](uint64_t first, size_t count, std::byte* bytes) {
      std::vector<float> values(count);
      numeric::gaussian_bf16(seed, uint64_t(stream), first, values);
      for (float& x : values) x = mean + deviation * x;
      std::memcpy(bytes, values.data(), count * 4);
    });
  };
}

std::vector<float> topic(uint64_t seed, int64_t sequence, int64_t segment) {
  std::vector<float> x(kKey);
  numeric::gaussian_bf16(seed, uint64_t(Stream::topics),
                         (uint64_t(sequence) << 32 | uint64_t(segment)) * kKey, x);
  return x;
}

isa::Generator index_key_pages(const Workload& w, std::shared_ptr<const PagePlacement> placement,
                               std::shared_ptr<const RopeTable> rope) {
  const auto weight = affine(w.seed, Stream::norm_weight, kKey, 1.0f, 0.1f);
  const auto bias = affine(w.seed, Stream::norm_bias, kKey, 0.0f, 0.1f);
  const bool fp8 = w.index_form == CacheForm::fp8;
  const size_t bytes = size_t(w.index_page) * (fp8 ? kKey + 4 : kKey * 2);
  auto fill = [=, seed = w.seed, interleaved = w.index_interleaved, rule = rule_of(w),
               epsilon = float(w.index_norm_epsilon), tokens = w.index_page,
               topics = w.stream == IndexStream::local](int32_t entry, int64_t position,
                                                        std::byte* page, int64_t token) {
    std::array<float, kKey> x;
    const uint64_t stream_at = (uint64_t(entry) * uint64_t(tokens) + uint64_t(token)) * kKey;
    numeric::gaussian_bf16(seed, uint64_t(Stream::index_keys), stream_at, x);
    if (topics) {
      const auto shared = topic(seed, placement->request[size_t(entry)], position / kSegment);
      for (size_t i = 0; i < kKey; ++i) x[i] += shared[i];
    }
    layer_norm(x.data(), weight.data(), bias.data(), epsilon);
    rotate(x.data(), rope->row(position), interleaved);
    round_bf16(x.data(), kKey);
    if (!fp8) {
      numeric::encode_bf16(x, reinterpret_cast<uint16_t*>(page) + token * kKey);
      return;
    }
    hadamard(x.data());
    round_bf16(x.data(), kKey);
    const float scale =
        numeric::quantise_group(x, rule, reinterpret_cast<uint8_t*>(page) + token * kKey);
    std::memcpy(page + tokens * kKey + token * 4, &scale, 4);
  };
  return cache(placement, w.index_page, bytes, fill);
}

isa::Generator index_query_codes(const Workload& w, int64_t tile) {
  const bool fp8 = w.index_form == CacheForm::fp8;
  const size_t row = fp8 ? kKey : kKey * 2;
  return [=, seed = w.seed, heads = w.index_heads, rule = rule_of(w)](uint64_t offset,
                                                                      std::span<std::byte> to) {
    whole_elements(offset, to, row, [&](uint64_t first, size_t count, std::byte* bytes) {
      for (size_t i = 0; i < count; ++i) {
        std::byte* at = bytes + i * row;
        std::fill_n(at, row, std::byte{0});
        if (int64_t((first + i) % uint64_t(tile)) >= heads) continue;
        std::array<float, kKey> x;
        numeric::gaussian_bf16(seed, uint64_t(Stream::index_queries), (first + i) * kKey, x);
        if (fp8)
          numeric::quantise_group(x, rule, reinterpret_cast<uint8_t*>(at));
        else
          numeric::encode_bf16(x, reinterpret_cast<uint16_t*>(at));
      }
    });
  };
}

isa::Generator latent_pages(const Workload& w, std::shared_ptr<const PagePlacement> placement,
                            std::shared_ptr<const RopeTable> rope) {
  const auto weight = affine(w.seed, Stream::latent_weight, kLatent, 1.0f, 0.1f);
  const bool fp8 = w.latent_form == CacheForm::fp8;
  const size_t record = fp8 ? 656 : 1152;
  auto fill = [=, seed = w.seed, interleaved = w.rope_interleaved, rule = rule_of(w),
               epsilon = float(w.rms_epsilon), tokens = w.latent_page](
                  int32_t entry, int64_t position, std::byte* page, int64_t token) {
    std::array<float, kLatent + kRope> x;
    const uint64_t stream_at = uint64_t(entry * tokens + position % tokens) * (kLatent + kRope);
    numeric::gaussian_bf16(seed, uint64_t(Stream::latents), stream_at, x);
    rms_norm(x.data(), weight.data(), epsilon);
    round_bf16(x.data(), kLatent);
    rotate(x.data() + kLatent, rope->row(position), interleaved);
    std::byte* to = page + size_t(token) * record;
    if (!fp8) {
      numeric::encode_bf16(x, reinterpret_cast<uint16_t*>(to));
      return;
    }
    for (int g = 0; g < 4; ++g) {
      const float scale =
          numeric::quantise_group(std::span<const float>(x).subspan(size_t(g) * 128, 128), rule,
                                  reinterpret_cast<uint8_t*>(to) + g * 128);
      std::memcpy(to + kLatent + g * 4, &scale, 4);
    }
    numeric::encode_bf16(std::span<const float>(x).subspan(kLatent, kRope),
                         reinterpret_cast<uint16_t*>(to + kLatent + 16));
  };
  return cache(placement, 1, record, fill);
}

std::vector<int32_t> synthetic_selection(const Workload& w, int64_t token) {
  const int64_t visible = w.visible(token), count = std::min(w.topk, visible);
  std::vector<int32_t> out;
  uint64_t draw = 0;
  auto random = [&](uint64_t bound) {
    return int64_t(numeric::below(
        numeric::mix(w.seed, uint64_t(Stream::selection) + uint64_t(token) * 64, draw++), bound));
  };
  std::vector<bool> taken(static_cast<size_t>(visible));
  auto take = [&](int64_t p) {
    if (int64_t(out.size()) < count && p >= 0 && p < visible && !taken[size_t(p)]) {
      taken[size_t(p)] = true;
      out.push_back(int32_t(p));
    }
  };
  if (count == visible) {
    out.resize(size_t(count));
    std::iota(out.begin(), out.end(), 0);
  } else if (w.index == IndexSource::local) {
    for (int64_t i = 0; i < count / 2; ++i) take(visible - 1 - i);
    while (int64_t(out.size()) < count) {
      const int64_t start = random(uint64_t(visible));
      for (int64_t i = 0; i < 16; ++i) take(start + i);
    }
  } else {
    // Floyd's sampling: exactly `count` distinct positions with `count` draws.
    for (int64_t last = visible - count; last < visible; ++last) {
      const int64_t p = random(uint64_t(last) + 1);
      if (taken[size_t(p)])
        take(last);
      else
        take(p);
    }
  }
  std::sort(out.begin(), out.end());
  out.resize(size_t(w.topk), -1);
  return out;
}

}  // namespace daybreak::kernels
