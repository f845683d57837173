// Pipeline of attention over gathered keys on Hopper (kernels/tile/gathered_attention.hpp): one
// persistent block of three warpgroups, two consumers and the DMA role. It owns the ring, the
// barriers, the roles and the order of the bodies; kernels own the arithmetic.
//
// Steps go round the consumers. For a step it owns, a consumer runs
//   score (first columns) | accumulate (step - 1) | score (rest) | weigh | accumulate (step)
// so that the scores of step i + 1 are in the matrix unit while step i is being weighed. Raw records
// pass through the DMA role's registers: it names a step's records one step before it converts them.
#pragma once
#include "kernels/machines/hopper/matrix_machine.cuh"
#include "kernels/machines/hopper/tuning.cuh"

namespace daybreak::kernels::hopper {

template <class K, class M, class Tuned> struct AttentionPipeline {
  using Stage = typename K::Stage;
  using Fixed = typename K::Fixed;
  using Board = typename K::Board;
  using Scores = typename K::Scores;
  using State = typename K::State;
  using Task = typename K::Task;
  using Args = typename K::Args;
  static constexpr AttentionTuning kTuning = Tuned::kTuning;
  static constexpr int kRing = kTuning.ring, kConsumers = M::kConsumers;
  static constexpr int kFixedPanels = sizeof(Fixed) / 8192;
  static constexpr int kPanels = M::kConverts ? 1 : sizeof(Stage) / 8192;
  static constexpr int kAhead = kTuning.score_ahead, kPart = kTuning.score_part;
  static constexpr int kThreads = kWarpgroup * (kConsumers + 1);

  struct Shared {
    Stage ring[kRing];
    Fixed fixed;
    Board board;
    Barrier full[kRing][kPanels], empty[kRing];
    Barrier fixed_full[kFixedPanels], fixed_empty, weighed, board_free;
  };
  static constexpr int kSharedBytes = sizeof(Shared) + 1024;
  static_assert(kSharedBytes <= 232448, "shared memory of one block");
  static_assert(kTuning.dma_registers + kConsumers * kTuning.consumer_registers <= 504,
                "roles share the 168 registers of each thread that the block starts with");

  M& m;
  Shared& sh;
  const Args& a;

  DAYBREAK_DEVICE void setup() {
    if (threadIdx.x == 0) {
      for (int i = 0; i < kRing; ++i) {
        for (Barrier& b : sh.full[i]) b.init(kWarpgroup);
        sh.empty[i].init(kWarpgroup * kConsumers);
      }
      for (Barrier& b : sh.fixed_full) b.init(kWarpgroup);
      sh.fixed_empty.init(kWarpgroup * kConsumers);
      sh.weighed.init(kWarpgroup);
      sh.board_free.init(kWarpgroup * kConsumers);
      show_barriers();
    }
    __syncthreads();
    follow_previous();
  }

  DAYBREAK_DEVICE int tasks() const {
    return m.context.indirect ? least(__ldg(m.context.indirect), K::tasks(a)) : K::tasks(a);
  }

  // ---- DMA role: the first slot of a task, the task's fixed tiles, the other slots --------------

  DAYBREAK_DEVICE void fill_into(const void* slot, Barrier* full, Barrier& empty, uint32_t use,
                                 uint32_t awaited = ~0u) {
    m.slot = slot, m.arrived = full, m.vacant = &empty, m.parity = (use & 1) ^ 1;
    m.awaited = awaited;
  }
  // The panels at which parts of the scores end.
  static constexpr uint32_t part_ends() {
    uint32_t panels = 0;
    for (int at = 0; at < K::kDim;) {
      const int limit = at < kAhead ? kAhead : K::kDim;
      at = at + kPart < limit ? at + kPart : limit;
      panels |= 1u << (at / 64 - 1);
    }
    return panels;
  }
  DAYBREAK_DEVICE void fill_slot(uint32_t seq) {
    const int slot = seq % kRing;
    fill_into(&sh.ring[slot], sh.full[slot], sh.empty[slot], seq / kRing, part_ends());
  }

  DAYBREAK_DEVICE void produce() {
    uint32_t seq = 0, round = 0;
    const int count = tasks();
    for (int number = blockIdx.x; number < count; number += gridDim.x, ++round) {
      const Task task = K::task(m, a, number);
      m.fresh = true;
      for (int step = 0; step < task.trips; ++step, ++seq) {
        fill_slot(seq);
        K::load(m, task, step, sh.ring[seq % kRing]);
        if constexpr (M::kConverts)
          if (seq > 0) convert(task, seq - 1);
        if (step == 0) {
          fill_into(&sh.fixed, sh.fixed_full, sh.fixed_empty, round);
          K::prepare(m, task, sh.fixed);
        }
        if constexpr (M::kConverts)
          if (step == task.trips - 1 && number + int(gridDim.x) >= count) {
            m.records.advance();
            convert(task, seq);
          }
      }
    }
  }

  DAYBREAK_DEVICE void convert(const Task& task, uint32_t seq) {
    fill_slot(seq);
    K::convert(m, task, 0, sh.ring[seq % kRing]);
    show_to_matrix_unit();
    sh.full[seq % kRing][0].arrive();
  }

  // ---- consumers --------------------------------------------------------------------------------

  template <int kFrom, int kTo>
  DAYBREAK_DEVICE void score(const Task& task, uint32_t seq, Scores& scores) {
    constexpr int kNext = kFrom + kPart < kTo ? kFrom + kPart : kTo;
    if constexpr (kFrom < kTo) {
      const int slot = seq % kRing;
      m.slot = &sh.ring[slot], m.arrived = sh.full[slot];
      m.parity = seq / kRing & 1;
      K::template score<kFrom, kNext>(m, task, sh.fixed, sh.ring[slot], scores);
      score<kNext, kTo>(task, seq, scores);
    }
  }

  DAYBREAK_DEVICE void weigh(const Task& task, int step, uint32_t seq, Scores& scores) {
    if (seq > 0) sh.board_free.wait((seq - 1) & 1);
    K::weigh(m, task, step, scores, sh.board, sh.board);
    show_to_matrix_unit();
    sh.weighed.arrive();
  }

  DAYBREAK_DEVICE void accumulate(const Task& task, int step, int share, uint32_t seq, State& st) {
    sh.weighed.wait(seq & 1);  // its arrivals came after the owner's fences: nothing to fence here
    K::accumulate(m, task, step, share, sh.ring[seq % kRing], sh.board, st);
    m.settle();
    sh.empty[seq % kRing].arrive();
    if (step < task.trips - 1) sh.board_free.arrive();  // finish reads the last one
  }

  // Step 0 stands alone, so that bodies which treat it apart do not branch while products are under
  // way: that would make the compiler finish each before it starts the next.
  DAYBREAK_DEVICE void first(const Task& task, int share, uint32_t seq, int trips, Scores& scores,
                             State& st) {
    score<0, K::kDim>(task, seq, scores);
    m.settle();
    if (kConsumers >= trips) sh.fixed_empty.arrive();
    weigh(task, 0, seq, scores);
    accumulate(task, 0, share, seq, st);
  }
  DAYBREAK_DEVICE void one(const Task& task, int step, int share, uint32_t seq, int trips,
                           Scores& scores, State& st) {
    score<0, kAhead>(task, seq + step, scores);
    accumulate(task, step - 1, share, seq + step - 1, st);
    score<kAhead, K::kDim>(task, seq + step, scores);
    m.settle();
    if (step + kConsumers >= trips) sh.fixed_empty.arrive();
    weigh(task, step, seq + step, scores);
    accumulate(task, step, share, seq + step, st);
  }

  DAYBREAK_DEVICE void consume(int share) {
    uint32_t seq = 0, round = 0;
    const int count = tasks();
    for (int number = blockIdx.x; number < count; number += gridDim.x, ++round) {
      const Task task = K::task(m, a, number);
      Scores scores;
      State st;
      K::begin(m, task, st);
      for (Barrier& b : sh.fixed_full) b.wait(round & 1);
      const int trips = uniform(task.trips);
      int step = (seq + share) % kConsumers;  // the first step this consumer owns
      if (step >= trips) {
        sh.fixed_empty.arrive();
      } else {
        if (step == 0)
          first(task, share, seq, trips, scores, st);
        else
          one(task, 1, share, seq, trips, scores, st);
        step += kConsumers;
      }
      for (; step < trips; step += kConsumers) {
        __builtin_assume(step >= kConsumers);
        one(task, step, share, seq, trips, scores, st);
      }
      if (step == trips) accumulate(task, trips - 1, share, seq + trips - 1, st);
      K::finish(m, task, share, sh.board, st);
      sh.board_free.arrive();
      seq += trips;
    }
  }
};

template <class M, template <class> class Kernel, class Tuned>
__global__ void __launch_bounds__(kWarpgroup*(M::kConsumers + 1), 1)
    attention_kernel(const __grid_constant__ typename Kernel<M>::Args a, const Context context) {
  using Pipeline = AttentionPipeline<Kernel<M>, M, Tuned>;
  extern __shared__ uint8_t raw[];
  auto* aligned = raw + (-shared_address(raw) & 1023);
  M m;
  m.context = context;
  Pipeline p{m, *reinterpret_cast<typename Pipeline::Shared*>(aligned), a};
  p.setup();
  if (threadIdx.x < kWarpgroup * M::kConsumers) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Tuned::kTuning.consumer_registers));
    p.consume(uniform(threadIdx.x / kWarpgroup));
  } else {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Tuned::kTuning.dma_registers));
    p.produce();
  }
}

}  // namespace daybreak::kernels::hopper
