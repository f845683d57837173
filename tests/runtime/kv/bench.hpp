// Two caches of different page sizes in an image, and what every token's bytes must be: a function of
// the tokens up to it, so that equal prefixes hold equal bytes.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "kernels/runtime/kv/kv_cache.hpp"

namespace daybreak::kernels::kv::test {

inline std::vector<std::byte> token_bytes(std::span<const int32_t> prefix, size_t cache,
                                          int64_t count) {
  uint64_t seed = 77 + cache;
  for (int32_t t : prefix) seed = (seed ^ uint64_t(uint32_t(t))) * 0x9E3779B97F4A7C15u + 1;
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(static_cast<size_t>(count));
  for (std::byte& b : bytes) b = std::byte(random());
  return bytes;
}

struct Sizes {
  int64_t index_page = 64, latent_page = 61;
  int64_t index_pages = 12, latent_pages = 12, requests = 6, blocks = 8;
};

struct Bench {
  explicit Bench(Sizes s = {}) : sizes(s) {
    const int64_t pages[] = {s.index_pages, s.latent_pages};
    const CacheLayout layouts[] = {index_keys(s.index_page), latent_records(s.latent_page)};
    for (int c = 0; c < 2; ++c) {
      // Shapes that the cache refuses reserve little.
      auto bytes = [&](int which, const char* name, int64_t count) {
        base[c][which] = image.reserve(name, Bytes(std::clamp<int64_t>(count, 4, 1 << 24)));
        return std::make_unique<ImageBytes>(image, base[c][which]);
      };
      data[c] = bytes(0, "data", pages[c] * layouts[c].page_bytes);
      requests[c] = bytes(1, "requests", s.requests * 16);
      blocks[c] = bytes(2, "blocks", s.requests * s.blocks * 4);
      caches[c] = std::make_unique<PagedCache>(CacheShape{.layout = layouts[c],
                                                          .pages = pages[c],
                                                          .requests = s.requests,
                                                          .blocks_per_request = s.blocks},
                                               *data[c], *requests[c], *blocks[c]);
    }
    kv = std::make_unique<KvCache>(std::vector<PagedCache*>{caches[0].get(), caches[1].get()});
  }

  // What the step's kernels do: the bytes of every token that is not committed, through its slot.
  void write(int request) {
    for (size_t c = 0; c < 2; ++c) {
      const CacheLayout& l = kv->cache(c).shape().layout;
      for (int64_t p = kv->committed(request); p < kv->length(request); ++p) {
        const auto bytes =
            token_bytes(kv->tokens(request).first(size_t(p) + 1), c, l.token_bytes());
        scatter(c, kv->cache(c).slot(request, p), bytes);
      }
    }
    kv->commit(request);
  }
  void scatter(size_t c, int64_t slot, std::span<const std::byte> from) {
    const CacheLayout& l = kv->cache(c).shape().layout;
    ASSERT_GE(slot, 0);
    for (const Field& f : l.fields) {
      data[c]->write(uint64_t(slot / l.page_tokens * l.page_bytes + f.offset +
                              slot % l.page_tokens * f.stride),
                     from.first(size_t(f.bytes)));
      from = from.subspan(size_t(f.bytes));
    }
  }

  int32_t word(const DeviceBytes& from, int64_t at) const {
    int32_t v;
    from.read(uint64_t(at) * 4, std::as_writable_bytes(std::span(&v, 1)));
    return v;
  }
  int32_t generation_in_memory(size_t c, int request) const {
    return word(*requests[c], request * 4 + 2);
  }
  // Row of a position by a walk of the page table in memory; -1 where it is not mapped.
  int64_t walk(size_t c, int request, int64_t position) const {
    const int64_t tokens = kv->cache(c).shape().layout.page_tokens, block = position / tokens;
    EXPECT_LT(block, word(*requests[c], request * 4 + 1));
    const int64_t page = word(*blocks[c], word(*requests[c], request * 4) + block);
    return page < 0 ? -1 : page * tokens + position % tokens;
  }
  std::vector<std::byte> gather(size_t c, int64_t row) const {
    const CacheLayout& l = kv->cache(c).shape().layout;
    std::vector<std::byte> out(size_t(l.token_bytes()));
    std::span<std::byte> to(out);
    for (const Field& f : l.fields) {
      data[c]->read(
          uint64_t(row / l.page_tokens * l.page_bytes + f.offset + row % l.page_tokens * f.stride),
          to.first(size_t(f.bytes)));
      to = to.subspan(size_t(f.bytes));
    }
    return out;
  }
  // Every committed token of a resident sequence is found through the page table.
  ::testing::AssertionResult holds(int request) const {
    for (size_t c = 0; c < 2; ++c)
      for (int64_t p = 0; p < kv->committed(request); ++p) {
        const int64_t row = walk(c, request, p);
        if (row < 0)
          return ::testing::AssertionFailure() << "cache " << c << " position " << p << " unmapped";
        if (gather(c, row) != token_bytes(kv->tokens(request).first(size_t(p) + 1), c,
                                          kv->cache(c).shape().layout.token_bytes()))
          return ::testing::AssertionFailure()
                 << "cache " << c << " position " << p << " holds other bytes";
      }
    return ::testing::AssertionSuccess();
  }

  Sizes sizes;
  isa::MemoryImage image;
  Address base[2][3];  // data, requests, blocks
  std::unique_ptr<DeviceBytes> data[2], requests[2], blocks[2];
  std::unique_ptr<PagedCache> caches[2];
  std::unique_ptr<KvCache> kv;
};

inline std::vector<int32_t> tokens_of(int count, int32_t first = 0) {
  std::vector<int32_t> out;
  for (int i = 0; i < count; ++i) out.push_back(first + i);
  return out;
}

}  // namespace daybreak::kernels::kv::test
