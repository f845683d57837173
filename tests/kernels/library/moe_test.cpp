// The routed expert layer, kernel after kernel on Host, against the reference; then every kernel as the
// programs of chips.
#include <algorithm>

#include "kernels/library/moe/norm_rows.hpp"
#include "ref/compare/tolerance.hpp"
#include "ref/ops/formats.hpp"
#include "ref/ops/norm.hpp"
#include "tests/kernels/library/moe_scene.hpp"
#include "tests/kernels/library/on_chips.hpp"

namespace daybreak::kernels {
namespace {

void route(MoeScene& m) {
  on_host<MoeScene::Select>(m, [&](auto& a) { m.select(a); });
  on_host<MoeScene::Place>(m, [&](auto& a) { m.place(a); });
}

void experts(MoeScene& m) {
  on_host<QuantiseRows>(m, [&](auto& a) { m.quantise(a); });
  on_host<MoeScene::GateUp>(m, [&](auto& a) { m.gate_up_args(a); }, {.ring = 3, .boards = 2});
  on_host<MoeScene::Down>(m, [&](auto& a) { m.down_args(a); }, {.ring = 2, .left = 2});
  on_host<ExpertCombine>(m, [&](auto& a) { m.combine(a); });
}

// Chosen experts and weights, and that rows and tokens name each other.
void check_routing(const MoeScene& m) {
  const auto want = m.routed();
  const auto got = m.all<int32_t>(m.experts), rows = m.all<int32_t>(m.row_of),
             table = m.all<int32_t>(m.table), totals = m.all<int32_t>(m.totals);
  const auto weights = m.all<float>(m.weights);
  std::vector<int32_t> counts(MoeScene::kExperts, 0);
  int64_t named = 0;
  for (int64_t t = 0; t < m.s.tokens; ++t)
    for (int64_t i = 0; i < m.s.topk; ++i) {
      const int32_t e = got[size_t(t * MoeScene::kSlots + i)];
      ASSERT_EQ(e, want.experts[size_t(t * m.s.topk + i)]) << "token " << t;
      if (e < 0) {
        ASSERT_EQ(rows[size_t(i * m.s.tokens + t)], -1);
        continue;
      }
      ++counts[size_t(e)], ++named;
      ASSERT_NEAR(weights[size_t(t * MoeScene::kSlots + i)], want.weights[size_t(t * m.s.topk + i)],
                  1e-6);
      ASSERT_EQ(table[size_t(rows[size_t(i * m.s.tokens + t)])], t);
    }
  EXPECT_EQ(totals, counts);
  EXPECT_EQ(std::count_if(table.begin(), table.end(), [](int32_t t) { return t >= 0; }), named);
  // Rows of an expert: contiguous, ascending tokens, from a multiple of 16 on.
  int64_t start = 0;
  for (size_t e = 0; e < counts.size(); ++e) {
    for (int32_t r = 1; r < counts[e]; ++r)
      ASSERT_LT(table[size_t(start + r - 1)], table[size_t(start + r)]);
    start += (counts[e] + 15) / 16 * 16;
  }
}

void check_layer(const MoeShape& shape, uint64_t seed) {
  MoeScene m(shape, seed);
  route(m);
  check_routing(m);
  experts(m);
  if (shape.tokens == 0) return;
  const auto got = ref::bf16_values(m.all<uint16_t>(m.y));
  EXPECT_TRUE(passes(ref::compare("layer", std::span<const float>(got),
                                  std::span<const float>(m.expected()), ref::tolerance("moe"))));
}

TEST(Moe, LayersOfThreeFamilies) {
  check_layer({.groups = 3, .keep = 2, .scale = 2.5f}, 1);
  check_layer({.tokens = 21,
               .experts = 8,
               .topk = 4,
               .hidden = 320,
               .inter = 192,
               .softmax = true,
               .interleaved = true,
               .biased = true,
               .gating = isa::Gating::swiglu,
               .factor = 1.702f,
               .limit = 7},
              2);
  check_layer({.tokens = 18,
               .experts = 40,
               .topk = 4,
               .gating = isa::Gating::situ,
               .factor = 4,
               .limit = 25},
              3);
}

TEST(Moe, RandomRouting) {
  Random random(17);
  for (int trial = 0; trial < 12; ++trial) {
    MoeShape s{.tokens = int(random.below(40)), .hidden = 128, .inter = 128};
    s.experts = 1 + int(random.below(60));
    s.topk = 1 + int(random.below(std::min(4, s.experts)));
    s.blocks = 1 + int(random.below(3)), s.most = 1 + int(random.below(7));
    s.softmax = trial % 2;
    check_layer(s, uint64_t(100 + trial));
  }
}

// All tokens to one expert (three pieces), ties, NaN logits, every logit NaN.
TEST(Moe, EdgesOfRouting) {
  MoeShape one{.tokens = 70, .topk = 1, .hidden = 128, .inter = 128};
  MoeScene m(one, 4);
  for (int64_t e = 0; e < one.experts; ++e) m.set(m.bias, e, 0.0f);
  for (int64_t t = 0; t < one.tokens; ++t) m.set(m.logits, t * one.experts + 6, 50.0f);
  route(m), check_routing(m);
  EXPECT_EQ(m.all<int32_t>(m.grid), (std::vector<int32_t>{3, 3}));
  experts(m);
  EXPECT_TRUE(passes(ref::compare("one expert",
                                  std::span<const float>(ref::bf16_values(m.all<uint16_t>(m.y))),
                                  std::span<const float>(m.expected()), ref::tolerance("moe"))));

  for (bool softmax : {false, true}) {
    MoeScene edges({.tokens = 4, .hidden = 128, .inter = 128, .softmax = softmax}, 5);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (int64_t e = 0; e < edges.s.experts; ++e) {
      edges.set(edges.bias, e, 0.0f);
      edges.set(edges.logits, e, 1.0f);  // ties: the lowest experts
      edges.set(edges.logits, edges.s.experts + e, e < 7 ? nan : -3.0f);  // two are left
      edges.set(edges.logits, 2 * edges.s.experts + e, nan);              // none
    }
    route(edges), check_routing(edges);
    experts(edges);
    EXPECT_TRUE(passes(ref::compare(
        "edges", std::span<const float>(ref::bf16_values(edges.all<uint16_t>(edges.y))),
        std::span<const float>(edges.expected()), ref::tolerance("moe"))));
  }
}

TEST(Moe, NormOfLatents) {
  Scene s;
  Random random(8);
  constexpr int kRows = 19, kCols = 256;
  const uint16_t x = s.put("x", random.bf16s(kRows * kCols)), w = s.put("w", random.normals(kCols)),
                 y = s.garbage<uint16_t>("y", kRows * kCols);
  const auto fill = [&](auto& a) {
    a.x = moe::matrix(x, Format::bf16, kRows, kCols),
    a.y = moe::matrix(y, Format::bf16, kRows, kCols);
    a.weight = moe::matrix(w, Format::f32, 1, kCols), a.rows = kRows, a.epsilon = 1e-5f;
  };
  expect_same<NormRowsKernel<kCols>::On>(s, fill);
  on_host<NormRowsKernel<kCols>::On>(s, fill);
  std::vector<float> want;
  for (double v : ref::rms_norm(ref::bf16_values(s.all<uint16_t>(x)), s.all<float>(w), 1e-5))
    want.push_back(ref::bf16_value(ref::nearest_bf16(float(v))));
  EXPECT_TRUE(
      passes(ref::compare("norm", std::span<const float>(ref::bf16_values(s.all<uint16_t>(y))),
                          std::span<const float>(want), ref::tolerance("elementwise_bf16"))));
}

TEST(MoeOnChips, Routing) {
  MoeScene m({.tokens = 37, .blocks = 3, .groups = 3, .keep = 2}, 6);
  expect_same<MoeScene::Select>(m, [&](auto& a) { m.select(a); });
  on_host<MoeScene::Select>(m, [&](auto& a) { m.select(a); });
  expect_same<MoeScene::Place>(m, [&](auto& a) { m.place(a); });
}

TEST(MoeOnChips, ExpertProducts) {
  MoeScene m({.tokens = 37, .interleaved = true, .biased = true}, 7);
  route(m);
  expect_same<QuantiseRows>(m, [&](auto& a) { m.quantise(a); });
  on_host<QuantiseRows>(m, [&](auto& a) { m.quantise(a); });
  const auto gate_up = [&](auto& a) { m.gate_up_args(a); };
  expect_same<MoeScene::GateUp>(m, gate_up, {{.ring = 3, .boards = 2}, {.ring = 1, .boards = 1}});
  on_host<MoeScene::GateUp>(m, gate_up);
  const auto down = [&](auto& a) { m.down_args(a); };
  expect_same<MoeScene::Down>(m, down, {{.ring = 2, .left = 2}, {.ring = 2, .boards = 1}});
  on_host<MoeScene::Down>(m, down);
  expect_same<ExpertCombine>(m, [&](auto& a) { m.combine(a); });
}

// Converted weights that lie in memory until a product reads them: the same bits, whatever the order, with
// slots of their own and with one that every conversion fills.
TEST(MoeOnChips, WorkspaceInMemory) {
  MoeScene m({.tokens = 37, .most = 3}, 9);
  route(m);
  on_host<QuantiseRows>(m, [&](auto& a) { m.quantise(a); });
  for (const Tuning& tuning :
       {Tuning{.ring = 3, .boards = 2}, Tuning{.ring = 2}, Tuning{.ring = 1, .boards = 1}}) {
    Scene host, device;
    m.copy_to(host);
    m.copy_to(device);
    MoeScene::GateUp<Record>::Args args{};
    m.gate_up_args(args);
    MoeScene::GateUp<Host>::Args on_host{};
    m.gate_up_args(on_host);
    run_on_host<MoeScene::GateUp>(on_host, tuning, host.memory, host.bindings, {});
    const MemoryWorkspace workspace{
        .binding = uint16_t(device.bindings.size()), .share = 64 << 10, .tasks = m.s.most};
    device.garbage<uint8_t>("workspace", workspace.share * workspace.tasks);
    const auto chip = direct_chip();
    testing::SharedCounters counters;
    for (uint32_t task = 0; task < uint32_t(m.s.most); ++task) {
      const auto program = record_task<MoeScene::GateUp>(args, tuning, task,
                                                         {.capabilities = chip,
                                                          .memory = device.memory,
                                                          .bindings = device.bindings,
                                                          .workspace = workspace});
      for (const auto& finding : isa::verify(program, chip, &device.bindings))
        ADD_FAILURE() << "task " << task << ": " << finding.message;
      int conversions = 0, fetched = 0;
      for (const auto& e : program.code) {
        const auto* load = std::get_if<isa::Load>(&e.instruction);
        conversions += std::holds_alternative<isa::StreamMxfp4>(e.instruction);
        fetched += load && program.tensors[load->from.tensor].binding == workspace.binding;
      }
      EXPECT_GT(conversions, 0);
      EXPECT_EQ(fetched, 2 * conversions);  // codes and scales
      testing::run_interleaved(program, chip, device.memory, device.bindings, counters,
                               {.seed = 5 + task});
    }
    for (uint16_t id : {m.middle, m.middle_scales})
      EXPECT_EQ(host.all<uint8_t>(id), device.all<uint8_t>(id));
  }
}

TEST(MoeOnChips, AWorkspaceThatIsTooSmallIsAUsersError) {
  MoeScene m({.tokens = 7}, 10);
  route(m);
  MoeScene::GateUp<Record>::Args args{};
  m.gate_up_args(args);
  const auto chip = direct_chip();
  EXPECT_THROW(record_task<MoeScene::GateUp>(
                   args, {.ring = 2}, 0,
                   {.capabilities = chip,
                    .memory = m.memory,
                    .bindings = m.bindings,
                    .workspace = MemoryWorkspace{.binding = m.middle, .share = 4096, .tasks = 3}}),
               UserError);
}

}  // namespace
}  // namespace daybreak::kernels
