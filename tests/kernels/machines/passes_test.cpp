// Single passes: what each rule rewrites, where tiles go, which waits are left, which entries are
// live.
#include "kernels/machines/passes/passes.hpp"
#include "kernels/machines/legalise/rules.hpp"
#include "tests/kernels/machines/small_scenes.hpp"

namespace daybreak::testing {
namespace {

template <class I> int count(const isa::TaskProgram& p) {
  return int(std::count_if(p.code.begin(), p.code.end(), [](const isa::Entry& e) {
    return std::holds_alternative<I>(e.instruction);
  }));
}

isa::TaskProgram attention(const isa::Capabilities& chip, Tuning tuning = {},
                           std::function<bool(uint16_t)> needed = nullptr) {
  static const AttentionScene s(21, {200});
  isa::MemoryImage memory;
  s.scene.fill(memory);
  return record_task<SmallAttention>(
      s.args<Record>(), tuning, 0,
      {.capabilities = chip, .memory = memory, .bindings = s.scene.bindings(), .needed = needed});
}

TEST(Legalise, LeavesAChipThatCanDoEverythingAlone) {
  const auto p = attention(direct_chip());
  EXPECT_EQ(count<isa::Move>(p) + count<isa::Drain>(p), 0);
  EXPECT_EQ(count<isa::Mma>(p), 8);  // scores and values of 4 steps
  EXPECT_EQ(count<isa::ScalarLoad>(p), 1);
}

TEST(Legalise, RewritesWhatASplitChipLacks) {
  const auto p = attention(split_chip());
  // Keys are dequantised and weights written by the vector unit, q is loaded: 2 moves a step of
  // keys (latent and rope part), 1 of weights.
  EXPECT_EQ(count<isa::Move>(p), 4 * 3);
  EXPECT_EQ(count<isa::Mma>(p), 8);
  EXPECT_EQ(count<isa::Drain>(p), 8);
  for (const isa::Entry& e : p.code) {
    if (const auto* g = std::get_if<isa::Gather>(&e.instruction)) {
      EXPECT_EQ(g->software, 1);
      EXPECT_EQ(g->to.space, isa::Space::vector);
    }
    const bool vector = isa::queue_of(e.instruction) == isa::Queue::vector;
    std::visit(
        [&](const auto& i) {
          isa::for_each_operand(i, [&](const auto& t, isa::Access, bool) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(t)>, isa::TileRef>)
              if (vector) { EXPECT_EQ(t.space, isa::Space::vector); }
          });
        },
        e.instruction);
  }
}

Recording one_product(Format format, uint32_t m, uint32_t n, uint32_t k, bool transposed) {
  Recording r;
  auto tile = [&](Format f, isa::Space space, uint32_t rows, uint32_t cols) {
    return r.add_tile({.space = space,
                       .format = f,
                       .pitch = uint32_t(bytes_of(f, cols)),
                       .rows = rows,
                       .cols = cols},
                      0);
  };
  const auto a = tile(format, isa::Space::vector, m, k);
  const auto b =
      transposed ? tile(format, isa::Space::vector, n, k) : tile(format, isa::Space::vector, k, n);
  const auto acc = tile(Format::f32, isa::Space::accumulator, m, n);
  r.code.push_back(
      {isa::Mma{.acc = acc, .a = a, .b = b, .b_transposed = transposed, .accumulate = 0}});
  return r;
}

struct Split {
  Format format;
  uint32_t m, n, k;
  bool transposed;
  size_t parts;
};
void PrintTo(const Split& s, std::ostream* out) {
  *out << s.m << "x" << s.n << "x" << s.k << " " << name_of(s.format);
}
class SplitProducts : public ::testing::TestWithParam<Split> {};

TEST_P(SplitProducts, FitLatchesAndCoverTheProductOnce) {
  const Split c = GetParam();
  isa::Capabilities chip = direct_chip();
  Recording r = one_product(c.format, c.m, c.n, c.k, c.transposed);
  split_products(r, chip);
  EXPECT_EQ(r.code.size(), c.parts);
  const uint32_t unit = c.format == Format::e4m3 ? 128 : 64;
  int64_t covered = 0;
  for (const Recorded& part : r.code) {
    const auto& p = std::get<isa::Mma>(part.instruction);
    EXPECT_LE(p.a.bytes(), chip.latch_a.value);
    EXPECT_LE(p.b.bytes(), chip.latch_b.value);
    const uint32_t first = p.a.offset % p.a.pitch / uint32_t(bits_of(c.format) / 8);
    EXPECT_EQ(first % unit, 0u);  // chunks stay whole, so the bits stay
    EXPECT_EQ(p.accumulate, first > 0);
    covered += int64_t(p.acc.rows) * p.acc.cols * p.a.cols;
  }
  EXPECT_EQ(covered, int64_t(c.m) * c.n * c.k);
}

INSTANTIATE_TEST_SUITE_P(Shapes, SplitProducts,
                         ::testing::Values(Split{Format::bf16, 64, 64, 512, true, 1},
                                           Split{Format::bf16, 64, 64, 576, true, 2},
                                           Split{Format::bf16, 64, 512, 64, false, 1},
                                           Split{Format::bf16, 64, 512, 128, false, 2},
                                           Split{Format::bf16, 64, 1024, 64, false, 2},
                                           Split{Format::bf16, 1000, 64, 64, true, 2},
                                           Split{Format::e4m3, 256, 64, 512, true, 2},
                                           Split{Format::e4m3, 64, 64, 1000, true, 1},
                                           Split{Format::bf16, 8, 8, 8256, true, 3},
                                           Split{Format::bf16, 600, 600, 130, false, 9}));

TEST(SplitProductsRule, RefusesALatchBelowOnePiece) {
  isa::Capabilities chip = direct_chip();
  chip.latch_b = Bytes(100);
  Recording r = one_product(Format::bf16, 16, 16, 64, true);
  EXPECT_THROW(split_products(r, chip), UserError);
}

TEST(Allocate, NamesWhatDoesNotFit) {
  isa::Capabilities chip = direct_chip();
  chip.scratch[int(isa::Space::vector)] = Bytes(20 << 10);
  try {
    attention(chip);
    FAIL() << "a 16640-byte slot twice in 20 KB";
  } catch (const UserError& e) {
    const std::string text = e.what();
    for (const char* word : {"small_attention", "vector", "20480", "u8 64x260", "stage",
                             "16640 bytes needed", "available", "load step 1"})
      EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
  }
}

TEST(Allocate, RecyclesLocals) {
  const auto small = attention(direct_chip(), {.ring = 2, .boards = 1});
  const AttentionScene s(21, {384});  // more steps, no more scratch but for the odd gap
  isa::MemoryImage memory;
  s.scene.fill(memory);
  const auto large = record_task<SmallAttention>(
      s.args<Record>(), {.ring = 2, .boards = 1}, 0,
      {.capabilities = direct_chip(), .memory = memory, .bindings = s.scene.bindings()});
  EXPECT_GT(large.code.size(), small.code.size() * 5 / 4);
  for (int space = 0; space < isa::kSpaces; ++space)
    EXPECT_LE(large.scratch[space].value, small.scratch[space].value + 1024);
}

TEST(Order, NeedsFewSemaphores) {
  const auto p = attention(direct_chip(), {.ring = 3, .boards = 2, .score_ahead = 192});
  EXPECT_LE(p.semaphores, 10u);
  size_t waits = 0, signals = 0;
  for (const isa::Entry& e : p.code) waits += e.waits.size(), signals += e.signals.size();
  EXPECT_EQ(waits, signals);
  EXPECT_LE(waits, p.code.size() / 2);
}

TEST(Order, RefusesTooFewSemaphores) {
  isa::Capabilities chip = direct_chip();
  chip.max_semaphores = 2;
  EXPECT_THROW(attention(chip), UserError);
}

TEST(Order, ASignalToOtherCoresFollowsEveryStore) {
  struct Body {
    static void run(Record& m) {
      Record::Tile<float, 4, 4> x;
      const auto t = isa::tensor(0, Format::f32, {8, 4});
      m.fill(x, 1.f);
      m.store(t, 0, 0, x);
      m.store(t, 4, 0, x);
      m.signal({0});
      m.wait({0}, 1);
      m.load(x, t, 4, 0);
    }
  };
  isa::MemoryImage memory;
  const isa::BindingTable bindings{{"t", Address(0), Bytes(128)}};
  const isa::Capabilities chip = direct_chip();
  const RecordContext context{.capabilities = chip, .memory = memory, .bindings = bindings};
  Record m(context);
  m.enter("body", 0);
  Body::run(m);
  const auto p = m.program("order", 0);
  for (const isa::Entry& e : p.code) {
    if (std::holds_alternative<isa::Signal>(e.instruction)) { EXPECT_TRUE(e.fence); }
    if (std::holds_alternative<isa::Load>(e.instruction)) { EXPECT_TRUE(e.fence); }
  }
  EXPECT_EQ(findings(p, chip, bindings), "");
}

// Only the entries that are live run; what steers later launches must come out the same.
TEST(Steering, KeepsWhatIsNeeded) {
  const SelectionScene s(31, {500, 70, 0});
  for (const isa::Capabilities& chip : {direct_chip(), split_chip()}) {
    isa::MemoryImage expected, memory;
    s.scene.fill(expected);
    s.scene.fill(memory);
    run_on_host<SmallSelection>(s.args<Host>(), {}, expected, s.scene.bindings(),
                                {.fp8_matrix = chip.fp8_matrix});
    SharedCounters shared;
    for (uint32_t task = 0; task < 3; ++task) {
      const auto p = record_task<SmallSelection>(
          s.args<Record>(), {}, task,
          {.capabilities = chip,
           .memory = memory,
           .bindings = s.scene.bindings(),
           .needed = [&](uint16_t b) { return b == s.positions || b == s.count; }});
      run_interleaved(p, chip, memory, s.scene.bindings(), shared,
                      {.seed = task + 1, .only_live = true});
      for (const isa::Entry& e : p.code)
        if (const auto* store = std::get_if<isa::Store>(&e.instruction)) {
          EXPECT_EQ(e.live, p.tensors[store->to.tensor].binding != s.scores);
        }
    }
    EXPECT_EQ(s.scene.bytes(memory, s.positions), s.scene.bytes(expected, s.positions));
    EXPECT_EQ(s.scene.bytes(memory, s.count), s.scene.bytes(expected, s.count));
  }
}

TEST(Steering, LeavesOutWhatIsNot) {
  const auto p = attention(direct_chip(), {}, [](uint16_t) { return false; });
  for (const isa::Entry& e : p.code)
    EXPECT_EQ(e.live, isa::queue_of(e.instruction) == isa::Queue::control);
  const auto all = attention(direct_chip());
  for (const isa::Entry& e : all.code) EXPECT_TRUE(e.live);
  ASSERT_EQ(all.code.size(), p.code.size());  // the same program but for liveness
  for (size_t i = 0; i < all.code.size(); ++i) {
    EXPECT_EQ(all.code[i].waits, p.code[i].waits);
    EXPECT_EQ(all.code[i].fence, p.code[i].fence);
  }
}

}  // namespace
}  // namespace daybreak::testing
