// The small kernels on Host against oracles of their own, and on Record for two chips against Host:
// every tuning, every chip, several random orders, the same bits.
#include <cmath>

#include "ref/numeric/convert.hpp"
#include "tests/kernels/machines/small_scenes.hpp"

namespace daybreak::testing {
namespace {

double value_of(const std::vector<std::byte>& bytes, size_t i) {
  uint16_t bits;
  std::memcpy(&bits, &bytes[2 * i], 2);
  return numeric::decode_bf16(bits);
}

// Softmax attention in double over the keys the table names.
std::vector<double> attention_oracle(const AttentionScene& s, const isa::MemoryImage& memory,
                                     const std::vector<int32_t>& keys) {
  const auto q = s.scene.bytes(memory, s.q), cache = s.scene.bytes(memory, s.cache),
             table = s.scene.bytes(memory, s.table);
  std::vector<double> out(size_t(s.tokens) * 16 * 128, 0);
  for (int row = 0; row < s.tokens * 16; ++row) {
    const int t = row / 16;
    std::vector<double> weight(keys[t]);
    std::vector<std::vector<double>> key(keys[t], std::vector<double>(192));
    double max = -INFINITY, sum = 0;
    for (int j = 0; j < keys[t]; ++j) {
      int32_t at;
      std::memcpy(&at, &table[size_t(t * s.entries + j) * 4], 4);
      const std::byte* record = &cache[size_t(at) * 260];
      float scale;
      std::memcpy(&scale, record + 128, 4);
      for (int c = 0; c < 128; ++c) {
        const float x = numeric::decode_e4m3(uint8_t(record[c])) * scale;
        key[j][c] = numeric::decode_bf16(numeric::encode_bf16(x));
      }
      for (int c = 0; c < 64; ++c) {
        uint16_t bits;
        std::memcpy(&bits, record + 132 + 2 * c, 2);
        key[j][128 + c] = numeric::decode_bf16(bits);
      }
      for (int c = 0; c < 192; ++c) weight[j] += value_of(q, size_t(row) * 192 + c) * key[j][c];
      max = std::max(max, weight[j]);
    }
    for (double& w : weight) sum += w = std::exp2((w - max) * double(0.1f));
    for (int j = 0; j < keys[t]; ++j)
      for (int c = 0; c < 128; ++c) out[size_t(row) * 128 + c] += weight[j] / sum * key[j][c];
  }
  return out;
}

TEST(Pipelines, AttentionOnHostMatchesAnOracle) {
  const std::vector<int32_t> keys{200, 64, 1, 130, 384};
  AttentionScene s(3, keys);
  isa::MemoryImage memory;
  s.scene.fill(memory);
  run_on_host<SmallAttention>(s.args<Host>(), {}, memory, s.scene.bindings());
  const auto want = attention_oracle(s, memory, keys);
  const auto got = s.scene.bytes(memory, s.out);
  double difference = 0, size = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double x = value_of(got, i);
    ASSERT_TRUE(std::isfinite(x)) << i;
    difference += (x - want[i]) * (x - want[i]), size += want[i] * want[i];
  }
  EXPECT_LT(std::sqrt(difference / size), 5e-3);
  EXPECT_GT(size, 1);
}

TEST(Pipelines, TuningChangesNoBitOfAttention) {
  AttentionScene s(4, {200, 65, 0, 384});
  isa::MemoryImage first;
  s.scene.fill(first);
  run_on_host<SmallAttention>(s.args<Host>(), {.ring = 1, .boards = 1}, first, s.scene.bindings());
  for (int ring : {1, 2, 3, 5})
    for (int boards : {1, 2, 3})
      for (int ahead : {0, 64, 128, 192}) {
        if (ahead > 0 && ring < 2) continue;
        isa::MemoryImage memory;
        s.scene.fill(memory);
        run_on_host<SmallAttention>(s.args<Host>(), {ring, boards, ahead}, memory,
                                    s.scene.bindings());
        EXPECT_EQ(s.scene.differences(first, memory), "") << ring << boards << ahead;
      }
}

TEST(Pipelines, ImpossibleTuningIsRefused) {
  AttentionScene s(4, {65});
  isa::MemoryImage memory;
  s.scene.fill(memory);
  for (Tuning t : {Tuning{0, 1, 0}, {2, 0, 0}, {1, 1, 64}, {2, 1, 63}, {2, 1, 256}, {2, 1, -64}})
    EXPECT_THROW(run_on_host<SmallAttention>(s.args<Host>(), t, memory, s.scene.bindings()),
                 UserError);
}

class OnChips : public ::testing::TestWithParam<std::tuple<bool, int, int, int>> {
 protected:
  isa::Capabilities chip() const { return std::get<0>(GetParam()) ? direct_chip() : split_chip(); }
  Tuning tuning() const {
    return {std::get<1>(GetParam()), std::get<2>(GetParam()), std::get<3>(GetParam())};
  }
};

TEST_P(OnChips, AttentionEqualsHost) {
  AttentionScene s(7, {200, 0, 65, 384});
  expect_same<SmallAttention>(s.scene, s.args<Host>(), s.args<Record>(), tuning(), chip(), 4);
}

TEST_P(OnChips, AttentionWithSlackEqualsHost) {
  AttentionScene s(8, {129});
  expect_same<SmallAttention>(s.scene, s.args<Host>(40.f), s.args<Record>(40.f), tuning(), chip());
}

TEST_P(OnChips, SelectionEqualsHost) {
  SelectionScene s(11, {500, 0, 64, 65, 1});
  expect_same<SmallSelection>(s.scene, s.args<Host>(), s.args<Record>(), tuning(), chip(), 4);
}

TEST_P(OnChips, RowsEqualHost) {
  RowsScene s(13, 3, 9);
  expect_same<SmallRows>(s.scene, s.args<Host>(), s.args<Record>(), tuning(), chip(), 6);
}

INSTANTIATE_TEST_SUITE_P(Machines, OnChips,
                         ::testing::Values(std::tuple(true, 1, 1, 0), std::tuple(true, 2, 1, 64),
                                           std::tuple(true, 3, 2, 192), std::tuple(true, 20, 1, 0),
                                           std::tuple(false, 1, 1, 0), std::tuple(false, 2, 2, 64),
                                           std::tuple(false, 3, 2, 192)));

TEST(Pipelines, SelectionFindsTheBest) {
  SelectionScene s(17, {500, 40});
  isa::MemoryImage memory;
  s.scene.fill(memory);
  run_on_host<SmallSelection>(s.args<Host>(), {}, memory, s.scene.bindings());
  const auto scores = s.scene.bytes(memory, s.scores),
             positions = s.scene.bytes(memory, s.positions);
  for (int t : {0, 1}) {
    const int context = t == 0 ? 500 : 40, keep = std::min(context, 96);
    std::vector<std::pair<float, int>> order;
    for (int i = 0; i < context; ++i) {
      float x;
      std::memcpy(&x, &scores[size_t(t * 512 + i) * 4], 4);
      order.emplace_back(-x, i);
    }
    std::sort(order.begin(), order.end());
    std::vector<int32_t> want, got(96);
    for (int i = 0; i < keep; ++i) want.push_back(order[i].second);
    std::sort(want.begin(), want.end());
    want.resize(96, -1);
    std::memcpy(got.data(), &positions[size_t(t) * 96 * 4], 96 * 4);
    EXPECT_EQ(got, want);
    EXPECT_EQ(memory.get<int32_t>(Address(s.scene.bindings()[s.count].base.value + 4 * t)), keep);
  }
}

}  // namespace
}  // namespace daybreak::testing
