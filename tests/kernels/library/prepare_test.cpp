// Preparation of new tokens on Host against the oracles' chain: each operator in double, rounded to
// BF16 where the operators store BF16. Codes may differ where a rounding falls the other way; few
// do.
#include "kernels/library/dsa/indexer_prepare.hpp"
#include "kernels/library/dsa/latent_append.hpp"
#include "kernels/library/dsa/query_prepare.hpp"
#include "ref/compare/tolerance.hpp"
#include "ref/ops/formats.hpp"
#include "ref/ops/norm.hpp"
#include "ref/ops/quantise.hpp"
#include "ref/ops/rope.hpp"
#include "tests/kernels/library/scene.hpp"

namespace daybreak::kernels {
namespace {

using Floats = std::vector<float>;
constexpr int64_t kPositions = 200;
constexpr int32_t kGarbagePosition = 1 << 30;

std::vector<double> frequencies() { return ref::rope_frequencies({.dim = 64, .theta = 10000}); }

// Tokens, their positions and their slots; a token with slot -1 has a garbage position.
struct NewTokens : Scene {
  Random random;
  int64_t tokens, pages, page_tokens;
  std::vector<int32_t> positions, slots;
  uint16_t angles, position_list, slot_list;

  NewTokens(int64_t tokens_, int64_t page_tokens_, uint64_t seed)
      : random(seed), tokens(tokens_), pages(tokens_ + 2), page_tokens(page_tokens_) {
    Floats table;
    for (int64_t p = 0; p < kPositions; ++p)
      for (double x : ref::rope_angles(frequencies(), p)) table.push_back(float(x));
    angles = put("angles", table);
    for (int64_t t = 0; t < tokens; ++t) {
      const bool padding = t % 3 == 2;
      positions.push_back(padding ? kGarbagePosition : int32_t(random.below(kPositions)));
      slots.push_back(padding ? -1 : int32_t((t + 1) * page_tokens + random.below(page_tokens)));
    }
    position_list = put("token positions", positions);
    slot_list = put("slots", slots);
  }
  template <class Args> void inputs(Args& a) const {
    a.angles = dsa::matrix(angles, Format::f32, kPositions, 64);
    a.token_positions = dsa::row(position_list, Format::i32, tokens);
    a.slots = dsa::row(slot_list, Format::i32, tokens);
    a.tokens = int(tokens);
  }
};

Floats rounded(const std::vector<double>& x) { return ref::bf16_values(ref::nearest_bf16(x)); }

// RoPE of 64 columns, rounded.
Floats rotated(std::span<const float> x, int64_t position, bool interleaved) {
  return rounded(
      ref::rope(x, std::vector<int64_t>{position}, frequencies(),
                interleaved ? ref::RopeLayout::interleaved : ref::RopeLayout::half_split));
}

// What the indexer scores with: rotated and mixed, before quantisation.
Floats index_vector(Floats x, int64_t position, bool interleaved, bool mixed) {
  const Floats front = rotated(std::span(x).first(64), position, interleaved);
  std::copy(front.begin(), front.end(), x.begin());
  return mixed ? rounded(ref::hadamard(x, 128)) : x;
}

// Neighbours in the order of values; -0 is +0.
void expect_codes(std::span<const uint8_t> got, std::span<const uint8_t> want) {
  ASSERT_EQ(got.size(), want.size());
  const auto place = [](uint8_t code) { return code & 0x80 ? -int(code & 0x7F) : int(code); };
  size_t different = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (place(got[i]) == place(want[i])) continue;
    ++different;
    EXPECT_EQ(std::abs(place(got[i]) - place(want[i])), 1) << "code " << i;
  }
  EXPECT_LE(different, got.size() / 100 + 1);
}

void expect_close(const char* name, const Floats& got, const Floats& want, const char* tolerance) {
  EXPECT_TRUE(passes(ref::compare(name, std::span<const float>(got), std::span<const float>(want),
                                  ref::tolerance(tolerance))));
}

template <int kHeads, class Form>
void check_index(int64_t heads, bool interleaved, bool power_of_two, uint64_t seed) {
  SCOPED_TRACE(::testing::Message()
               << "heads " << heads << " interleaved " << interleaved << " 2^n " << power_of_two);
  NewTokens s(7, dsa::kIndexPage, seed);
  const int64_t rows = s.tokens * kHeads;
  std::vector<uint16_t> q(size_t(rows * 128));
  Floats weights(static_cast<size_t>(rows));
  for (int64_t r = 0; r < rows; ++r)
    if (r % kHeads < heads) {
      weights[size_t(r)] = s.random.normal();
      for (int64_t c = 0; c < 128; ++c)
        q[size_t(r * 128 + c)] = s.random.bf16(r % 5 == 0 ? 1e-6f : 2.0f);
    }
  const auto k = s.random.bf16s(s.tokens * 128, 3);
  const Floats norm_weight = s.random.normals(128), norm_bias = s.random.normals(128, 0.2f);
  const uint16_t q_raw = s.put("q raw", q), k_raw = s.put("k raw", k),
                 heads_id = s.put("w", weights);
  const uint16_t nw = s.put("norm weight", norm_weight), nb = s.put("norm bias", norm_bias);
  const bool fp8 = Form::kQuantised;
  const uint16_t q_id = s.garbage<uint16_t>("q", rows * 128), w_id = s.garbage<float>("w'", rows);
  const int64_t page_bytes = fp8 ? dsa::kIndexPageBytes : dsa::kIndexPage * 256;
  const uint16_t keys = s.garbage<uint8_t>("keys", s.pages * page_bytes);
  on_host<IndexerPrepare<kHeads, Form>::template On>(s, [&](auto& a) {
    s.inputs(a);
    a.q_raw = dsa::matrix(q_raw, Format::bf16, rows, 128);
    a.k_raw = dsa::matrix(k_raw, Format::bf16, s.tokens, 128);
    a.head_weights = dsa::column(heads_id, Format::f32, rows);
    a.norm_weight = dsa::row(nw, Format::f32, 128);
    a.norm_bias = dsa::row(nb, Format::f32, 128);
    a.q = dsa::matrix(q_id, fp8 ? Format::e4m3 : Format::bf16, rows, 128);
    a.weights = dsa::column(w_id, Format::f32, rows);
    a.keys = fp8 ? dsa::index_codes(keys, s.pages) : dsa::index_rows(keys, s.pages);
    a.key_scales = dsa::index_scales(keys, s.pages);
    a.model_heads = int(heads);
    a.interleaved = interleaved;
    a.power_of_two = power_of_two;
  });

  const auto form = power_of_two ? ref::ScaleForm::ue8m0_ceil : ref::ScaleForm::plain;
  std::vector<uint8_t> untouched = s.all<uint8_t>(keys);
  for (int64_t t = 0; t < s.tokens; ++t) {
    const int32_t slot = s.slots[size_t(t)];
    if (slot < 0) {
      EXPECT_EQ(s.get<uint32_t>(w_id, 1, t * kHeads)[0], 0xFFFFFFFFu) << "padding token " << t;
      continue;
    }
    const int64_t position = s.positions[size_t(t)];
    const auto raw = std::span(k).subspan(size_t(t * 128), 128);
    const Floats key =
        index_vector(rounded(ref::layer_norm(ref::bf16_values(raw), norm_weight, norm_bias, 1e-6)),
                     position, interleaved, fp8);
    const int64_t page = slot / 64, at = slot % 64, start = page * page_bytes;
    auto forget = [&](int64_t from, int64_t bytes) {
      std::fill_n(untouched.begin() + from, bytes, uint8_t(0xFF));
    };
    if (fp8) {
      const auto want = ref::act_quant(key, 128, form);
      expect_codes(s.get<uint8_t>(keys, 128, start + at * 128), want.codes);
      const float scale = s.get<float>(keys, 1, (start + 64 * 128) / 4 + at)[0];
      expect_close("key scale", {scale}, want.scales, "elementwise_bf16");
      forget(start + at * 128, 128);
      forget(start + 64 * 128 + at * 4, 4);
    } else {
      expect_close("key", ref::bf16_values(s.get<uint16_t>(keys, 128, start / 2 + at * 128)), key,
                   "elementwise_bf16");
      forget(start + at * 256, 256);
    }
    for (int64_t h = 0; h < kHeads; ++h) {
      const int64_t row = t * kHeads + h;
      const float factor = float(1 / std::sqrt(double(heads))), last = float(1 / std::sqrt(128.0));
      const Floats query =
          index_vector(ref::bf16_values(std::span(q).subspan(size_t(row * 128), 128)), position,
                       interleaved, fp8);
      const float got = s.get<float>(w_id, 1, row)[0];
      if (fp8) {
        const auto want = ref::act_quant(query, 128, form);
        expect_codes(s.get<uint8_t>(q_id, 128, row * 128), want.codes);
        expect_close("w'", {got}, {weights[size_t(row)] * factor * want.scales[0] * last},
                     "elementwise_bf16");
      } else {
        expect_close("query", ref::bf16_values(s.get<uint16_t>(q_id, 128, row * 128)), query,
                     "elementwise_bf16");
        EXPECT_EQ(got, weights[size_t(row)] * factor * last);
      }
    }
  }
  EXPECT_EQ(std::count(untouched.begin(), untouched.end(), 0xFF), int64_t(untouched.size()))
      << "bytes beside the tokens' own were written";
}

// The indexer's rotation in the attention's layout (sglang #13530, PR#30342, PR#30088; xllm #853), and padding
// tokens of slot -1 that write into the last block (vllm PR#43869; ROCm/aiter PR#3235).
TEST(IndexerPrepare, BothRopeLayoutsAndScaleRules) {
  for (bool interleaved : {false, true})
    for (bool power_of_two : {false, true})
      check_index<64, dsa::Fp8>(64, interleaved, power_of_two, 1);
}
TEST(IndexerPrepare, FewerHeads) {
  check_index<64, dsa::Fp8>(3, false, true, 2);
  check_index<32, dsa::Fp8>(32, true, true, 3);
}
TEST(IndexerPrepare, PlainRows) { check_index<64, dsa::Plain>(64, false, true, 4); }

template <template <class> class K, bool kFp8>
void check_latent(int64_t page_tokens, bool interleaved, bool power_of_two, float size,
                  uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << "page " << page_tokens << " interleaved " << interleaved
                                    << " 2^n " << power_of_two << " size " << size);
  NewTokens s(8, page_tokens, seed);
  const auto latent = s.random.bf16s(s.tokens * 512, size), rope = s.random.bf16s(s.tokens * 64);
  const Floats weight = s.random.normals(512);
  const uint16_t c_id = s.put("latent", latent), r_id = s.put("k rope", rope),
                 w_id = s.put("w", weight);
  const int64_t record = kFp8 ? 656 : 1152, rows = s.pages * page_tokens;
  const uint16_t cache = s.garbage<uint8_t>("cache", rows * record);
  on_host<K>(s, [&](auto& a) {
    s.inputs(a);
    a.latent = dsa::matrix(c_id, Format::bf16, s.tokens, 512);
    a.k_rope = dsa::matrix(r_id, Format::bf16, s.tokens, 64);
    a.norm_weight = dsa::row(w_id, Format::f32, 512);
    a.cache = kFp8 ? dsa::latent_records(cache, s.pages, page_tokens)
                   : dsa::latent_rows(cache, s.pages, page_tokens);
    a.interleaved = interleaved;
    a.power_of_two = power_of_two;
  });
  std::vector<int64_t> written;
  for (int64_t t = 0; t < s.tokens; ++t) {
    if (s.slots[size_t(t)] < 0) continue;
    const int64_t slot = s.slots[size_t(t)];
    written.push_back(slot);
    Floats want = rounded(ref::rms_norm(
        ref::bf16_values(std::span(latent).subspan(size_t(t * 512), 512)), weight, 1e-6));
    const Floats back = rotated(ref::bf16_values(std::span(rope).subspan(size_t(t * 64), 64)),
                                s.positions[size_t(t)], interleaved);
    const auto got = s.get<uint8_t>(cache, record, slot * record);
    if (kFp8) {
      const auto quantised = ref::act_quant(
          want, 512, power_of_two ? ref::ScaleForm::ue8m0_ceil : ref::ScaleForm::plain);
      expect_codes(std::span(got).first(512), quantised.codes);
      expect_close("scales", s.get<float>(cache, 4, (slot * record + 512) / 4), quantised.scales,
                   "elementwise_bf16");
    } else {
      expect_close("latent", ref::bf16_values(s.get<uint16_t>(cache, 512, slot * record / 2)), want,
                   "elementwise_bf16");
    }
    expect_close("rope", ref::bf16_values(s.get<uint16_t>(cache, 64, (slot + 1) * record / 2 - 64)),
                 back, "elementwise_bf16");
  }
  for (int64_t row = 0; row < rows; ++row) {
    if (std::find(written.begin(), written.end(), row) != written.end()) continue;
    const auto bytes = s.get<uint8_t>(cache, record, row * record);
    EXPECT_EQ(std::count(bytes.begin(), bytes.end(), 0xFF), record)
        << "row " << row << " was written";
  }
}

TEST(LatentAppend, RecordsOfBothScaleRules) {
  for (int64_t page : {16, 64, 128})
    for (bool power_of_two : {false, true})
      check_latent<LatentAppend, true>(page, true, power_of_two, 2, uint64_t(page));
  check_latent<LatentAppend, true>(64, false, false, 2, 9);
  check_latent<LatentAppend, true>(64, true, true, 1e-9f, 10);  // below the smallest amax
}
TEST(LatentAppend, PlainRows) { check_latent<LatentAppendRows, false>(64, true, true, 2, 11); }

TEST(QueryPrepare, RotatesTheLastColumnsOnly) {
  for (int heads : {64, 128})
    for (bool interleaved : {false, true}) {
      NewTokens s(4, 64, 12);
      const int64_t rows = s.tokens * heads;
      const auto raw = s.random.bf16s(rows * 576);
      const uint16_t raw_id = s.put("q raw", raw), q = s.garbage<uint16_t>("q", rows * 576);
      on_host<QueryPrepare>(s, [&](auto& a) {
        s.inputs(a);
        a.q_raw = dsa::matrix(raw_id, Format::bf16, rows, 576);
        a.q = dsa::matrix(q, Format::bf16, rows, 576);
        a.heads = heads;
        a.interleaved = interleaved;
      });
      for (int64_t row = 0; row < rows; ++row) {
        const auto t = size_t(row / heads);
        const auto got = s.get<uint16_t>(q, 576, row * 576);
        if (s.slots[t] < 0) {
          EXPECT_EQ(got[0], 0xFFFF);
          continue;
        }
        const auto own = std::span(raw).subspan(size_t(row * 576), 576);
        EXPECT_TRUE(std::equal(got.begin(), got.begin() + 512, own.begin()));
        expect_close("rope", ref::bf16_values(std::span(got).subspan(512)),
                     rotated(ref::bf16_values(own.subspan(512)), s.positions[t], interleaved),
                     "elementwise_bf16");
      }
    }
}

}  // namespace
}  // namespace daybreak::kernels
