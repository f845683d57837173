// Random programs through the whole of Record: a seed decides which operations run on which parts
// of which tiles and what moves between them and memory; locals come and go, so scratch is
// recycled. The program of every chip must pass verify and leave Host's bits in any order.
#include <random>

#include "tests/kernels/machines/small_scenes.hpp"

namespace daybreak::testing {
namespace {

template <class M> struct RandomKernel {
  static constexpr const char* kName = "random";
  using Pipeline = Rowwise;
  template <class T, int R, int C> using Tile = typename M::template Tile<T, R, C>;
  template <int R, int C> using Acc = typename M::template Acc<R, C>;
  using Tensor = typename M::Tensor;

  struct Args {
    Tensor in, work, narrow, index, out;
    uint64_t seed = 0;
    int steps = 0, tokens = 1;
  };
  struct Stage {
    Tile<Bf16, 32, 192> b;
    Tile<E4m3, 32, 128> e;
  };
  struct Fixed {
    Tile<Bf16, 32, 192> q;
    Tile<float, 32, 1> column;
  };
  struct State {
    Acc<32, 32> dots;
    Acc<32, 192> wide;
    Tile<float, 32, 32> x, y;
    Tile<Bf16, 32, 64> w;
  };
  struct Result {
    Tile<float, 32, 32> z;
  };
  struct Task {
    Args a;
    int number, trips;
  };

  static int tasks(const Args& a) { return a.tokens; }
  static Task task(M&, const Args& a, int n) { return {a, n, a.steps}; }
  static void prepare(M& m, const Task& t, Fixed& f) {
    m.load(f.q, t.a.narrow, 0, 0);
    m.load(f.column, t.a.in, 0, 0);
  }
  static void begin(M& m, const Task&, State& st) {
    m.fill(st.dots, 0.5f);
    m.fill(st.wide, 0.f);
    m.fill(st.x, 1.f);
    m.fill(st.y, -1.f);
    m.fill(st.w, 0.25f);
  }
  static void load(M& m, const Task& t, int step, Stage& s) {
    m.gather(s.b, t.a.narrow, 0, t.a.index, 0, step % 7);
    m.fill(s.e, float(step % 3));
    m.quantise(columns<64>(s.e, 64), Tile<float, 32, 1>(), columns<64>(s.b, 32), 64, step % 2);
  }
  static void compute(M& m, const Task& t, int step, Fixed& f, Stage& s, State& st, Result& r) {
    std::mt19937_64 random(t.a.seed * 1000003 + uint64_t(step) * 101 + t.number);
    m.cast(r.z, st.x);
    for (int i = 0; i < 12; ++i) one(m, t, f, s, st, r, random);
    m.settle();
  }
  static void store(M& m, const Task& t, int step, Result& r) {
    m.store(t.a.out, (t.number * t.a.steps + step) * 32, 0, r.z);
  }
  static void finish(M& m, const Task& t, State& st) {
    Tile<float, 32, 192> all;
    m.cast(all, st.wide);
    m.store(t.a.work, t.number * 32, 256, all);
    m.store(t.a.work, t.number * 32, 448, st.dots);
  }

 private:
  static void one(M& m, const Task& t, Fixed& f, Stage& s, State& st, Result& r,
                  std::mt19937_64& random) {
    const int row = t.number * 32, col = int(random() % 4) * 32;
    const int part = int(random() % 2) * 16;
    switch (random() % 18) {
      case 0:
        m.mma_abt(st.dots, f.q, s.b, random() % 2);
        m.settle();
        break;
      case 1:
        m.mma_abt(st.dots, columns<64>(f.q, 64), columns<64>(s.b, 128), random() % 2);
        m.settle();
        break;
      case 2:
        m.mma_abt(st.dots, s.e, s.e, random() % 2);
        m.settle();
        break;
      case 3:
        m.mma_ab(st.wide, columns<32>(st.w, part), s.b, random() % 2);
        m.settle();
        break;
      case 4: m.scale_rows(st.wide, f.column); break;
      case 5: m.put(columns<32>(st.w, part), st.dots); break;
      case 6: m.act(st.x, st.dots, isa::Function::tanh, 0.01f); break;
      case 7: m.add(st.y, st.y, st.x); break;
      case 8: m.keep_columns(st.dots, part, 0.125f); break;
      case 9: m.store(t.a.work, row, col, st.y); break;
      case 10: m.load(r.z, t.a.work, row, col); break;
      case 11: m.store(t.a.work, row, col + part, columns<16>(st.x, part)); break;
      case 12: m.load(columns<16>(st.y, part), t.a.work, row, col); break;
      case 13: {
        Tile<float, 32, 32> local;
        Tile<float, 32, 1> sum;
        m.mul(local, st.x, r.z);
        m.sum_rows(sum, local);
        m.scale_rows(st.y, sum);
        m.act(st.y, st.y, isa::Function::tanh, 1.f);
        break;
      }
      case 14: {
        Tile<float, 32, 32> local;
        m.load(local, t.a.in, int(random() % 8), 0);
        m.add(r.z, r.z, local);
        break;
      }
      case 15:
        m.mma_abt(rows<16>(st.dots, part), rows<16>(f.q, part), s.b, true);
        m.settle();
        break;
      case 16: m.fill(columns<64>(st.wide, 64), 0.5f); break;
      case 17: {
        Tile<Bf16, 32, 64> local;
        m.cast(local, columns<64>(st.wide, part));
        m.mma_abt(st.dots, local, st.w, true);
        m.settle();
        break;
      }
    }
  }
};

struct RandomScene {
  Scene scene;
  int steps = 9, tokens = 2;
  uint16_t in, work, narrow, index, out;
  RandomScene() {
    std::mt19937 random(5);
    std::vector<float> x(64 * 32);
    for (float& v : x) v = float(int(random() % 401) - 200) / 256.f;
    std::vector<int32_t> list(64);
    for (int32_t& i : list) i = int32_t(random() % 65) - 1;
    in = scene.add_values("in", x);
    work = scene.add_zeros("work", int64_t(tokens) * 32 * 480 * 4);
    narrow = scene.add_values("narrow", random_bf16(9, 64 * 192));
    index = scene.add_values("index", list);
    out = scene.add_zeros("out", int64_t(tokens) * steps * 32 * 32 * 4);
  }
  template <class M> typename RandomKernel<M>::Args args(uint64_t seed) const {
    return {isa::tensor(in, Format::f32, {64, 32}),
            isa::tensor(work, Format::f32, {tokens * 32, 480}),
            isa::tensor(narrow, Format::bf16, {64, 192}),
            isa::tensor(index, Format::i32, {1, 64}),
            isa::tensor(out, Format::f32, {tokens * steps * 32, 32}),
            seed,
            steps,
            tokens};
  }
};

// Latches so small that every product is split, in reduction, columns and rows.
isa::Capabilities small_latches(isa::Capabilities chip) {
  chip.latch_a = Bytes(3 << 10);
  chip.latch_b = Bytes(3 << 10);
  return chip;
}
isa::Capabilities few_counts(isa::Capabilities chip) {
  chip.semaphore_max = 1;
  return chip;
}
isa::Capabilities only_operands_hidden() {
  isa::Capabilities chip = direct_chip();
  chip.operand_visible = false;
  return chip;
}
isa::Capabilities only_accumulators_hidden() {
  isa::Capabilities chip = direct_chip();
  chip.accumulator_visible = false;
  return chip;
}

TEST(RandomKernels, EqualHostOnEveryChip) {
  const RandomScene s;
  const isa::Capabilities chips[] = {direct_chip(),
                                     split_chip(),
                                     small_latches(direct_chip()),
                                     small_latches(split_chip()),
                                     few_counts(split_chip()),
                                     only_operands_hidden(),
                                     only_accumulators_hidden()};
  for (uint64_t seed = 1; seed <= 12; ++seed)
    for (const isa::Capabilities& chip : chips) {
      SCOPED_TRACE(std::to_string(seed) + " chip " + std::to_string(&chip - chips));
      expect_same<RandomKernel>(s.scene, s.args<Host>(seed), s.args<Record>(seed),
                                {.ring = 1 + int(seed % 3)}, chip, 3);
    }
}

TEST(RandomKernels, AMissingWaitShowsInSomeOrder) {
  const RandomScene s;
  isa::MemoryImage expected;
  s.scene.fill(expected);
  run_on_host<RandomKernel>(s.args<Host>(1), {}, expected, s.scene.bindings());
  int caught = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    isa::MemoryImage memory;
    s.scene.fill(memory);
    SharedCounters shared;
    bool refused = false;
    for (uint32_t task = 0; task < 2; ++task) {
      isa::TaskProgram p = record_task<RandomKernel>(
          s.args<Record>(1), {}, task,
          {.capabilities = direct_chip(), .memory = memory, .bindings = s.scene.bindings()});
      for (isa::Entry& e : p.code)  // every wait of the vector queue on anything is gone
        if (isa::queue_of(e.instruction) == isa::Queue::vector) e.waits.clear();
      refused |= !findings(p, direct_chip(), s.scene.bindings()).empty();
      try {
        run_interleaved(p, direct_chip(), memory, s.scene.bindings(), shared, {.seed = seed});
      } catch (const std::runtime_error&) {  // a semaphore nobody takes fills up
        refused = true;
      }
    }
    EXPECT_TRUE(refused);
    caught += refused || !s.scene.differences(expected, memory).empty();
  }
  EXPECT_EQ(caught, 20);
}

}  // namespace
}  // namespace daybreak::testing
