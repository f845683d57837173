// Inputs of the small kernels (kernels.hpp), and their arguments for any machine.
#pragma once
#include <cstring>
#include <numeric>
#include <random>

#include "tests/kernels/machines/kernels.hpp"
#include "tests/kernels/machines/scene.hpp"

namespace daybreak::testing {

struct AttentionScene {
  Scene scene;
  uint16_t q, cache, table, valid, out;
  int tokens, context, entries;

  // valid[t] keys of token t, the other entries -1; rows of the cache no one names are NaN.
  AttentionScene(uint64_t seed, std::vector<int32_t> keys, int context_rows = 400)
      : tokens(int(keys.size())), context(context_rows), entries(384) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    std::vector<std::byte> records(size_t(context) * 260, std::byte(0xFF));
    std::vector<int32_t> list(size_t(tokens) * entries, -1);
    const auto codes = random_e4m3(seed, size_t(context) * 128);
    const auto rope = random_bf16(seed, size_t(context) * 64);
    for (int t = 0; t < tokens; ++t) {
      std::vector<int32_t> all(context);
      std::iota(all.begin(), all.end(), 0);
      std::shuffle(all.begin(), all.end(), random);
      std::sort(all.begin(), all.begin() + keys[t]);
      for (int i = 0; i < keys[t]; ++i) {
        const int row = list[size_t(t) * entries + i] = all[i];
        const float scale = 0.01f + float(random() % 1000) / 700.f;
        std::memcpy(&records[size_t(row) * 260], &codes[size_t(row) * 128], 128);
        std::memcpy(&records[size_t(row) * 260 + 128], &scale, 4);
        std::memcpy(&records[size_t(row) * 260 + 132], &rope[size_t(row) * 64], 128);
      }
    }
    q = scene.add_values("q", random_bf16(seed + 1, size_t(tokens) * 16 * 192));
    cache = scene.add("cache", std::move(records));
    table = scene.add_values("table", list);
    valid = scene.add_values("valid", keys);
    out = scene.add_zeros("out", int64_t(tokens) * 16 * 128 * 2);
  }
  template <class M> typename SmallAttention<M>::Args args(float slack = 0) const {
    return {isa::tensor(q, Format::bf16, {tokens * 16, 192}),
            isa::tensor(cache, Format::u8, {context, 260}),
            isa::tensor(table, Format::i32, {tokens, entries}),
            isa::tensor(valid, Format::i32, {1, tokens}),
            isa::tensor(out, Format::bf16, {tokens * 16, 128}),
            0.1f,
            slack};
  }
};

struct SelectionScene {
  Scene scene;
  uint16_t q, weights, keys, blocks, context, scores, positions, count;
  int tokens, pages = 24;

  SelectionScene(uint64_t seed, std::vector<int32_t> contexts) : tokens(int(contexts.size())) {
    std::mt19937 random(static_cast<uint32_t>(seed));
    std::vector<float> w(size_t(tokens) * 32);
    for (float& x : w) x = float(int(random() % 9) - 3);
    std::vector<int32_t> list(size_t(tokens) * 8);
    for (int32_t& page : list) page = int32_t(random() % uint32_t(pages));
    q = scene.add_values("q", random_e4m3(seed, size_t(tokens) * 32 * 128));
    weights = scene.add_values("weights", w);
    keys = scene.add_values("keys", random_e4m3(seed + 1, size_t(pages) * 64 * 128));
    blocks = scene.add_values("blocks", list);
    context = scene.add_values("context", contexts);
    scores = scene.add_zeros("scores", int64_t(tokens) * 512 * 4);
    positions = scene.add_zeros("positions", int64_t(tokens) * 96 * 4);
    count = scene.add_zeros("count", int64_t(tokens) * 4);
  }
  template <class M> typename SmallSelection<M>::Args args() const {
    return {isa::tensor(q, Format::e4m3, {tokens * 32, 128}),
            isa::tensor(weights, Format::f32, {tokens, 32}),
            isa::tensor(keys, Format::e4m3, {pages, 64, 128}),
            isa::tensor(blocks, Format::i32, {tokens, 8}),
            isa::tensor(context, Format::i32, {1, tokens}),
            isa::tensor(scores, Format::f32, {tokens * 512, 1}),
            isa::tensor(positions, Format::i32, {tokens, 96}),
            isa::tensor(count, Format::i32, {1, tokens}),
            tokens};
  }
};

struct RowsScene {
  Scene scene;
  uint16_t in, middle, out, slots;
  int tokens, trips;

  RowsScene(uint64_t seed, int token_count, int trip_count)
      : tokens(token_count), trips(trip_count) {
    const int64_t count = int64_t(tokens) * trips * 8;
    std::mt19937 random(static_cast<uint32_t>(seed));
    std::vector<float> x(size_t(count) * 32);
    for (float& v : x) v = float(int(random() % 2001) - 1000) / 256.f;
    std::vector<int32_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (size_t i = 0; i < order.size(); i += 5) order[i] = -1;
    in = scene.add_values("in", x);
    middle = scene.add_zeros("middle", count * 96 * 4);
    out = scene.add_zeros("out", count * 32 * 4);
    slots = scene.add_values("slots", order);
  }
  template <class M> typename SmallRows<M>::Args args() const {
    const int64_t count = int64_t(tokens) * trips * 8;
    return {isa::tensor(in, Format::f32, {count, 32}),
            isa::tensor(middle, Format::f32, {count, 96}),
            isa::tensor(out, Format::f32, {count, 32}),
            isa::tensor(slots, Format::i32, {1, count}),
            tokens,
            trips};
  }
};

}  // namespace daybreak::testing
