// Pipeline of scoring on Hopper (kernels/tile/selection.hpp without a selection): one persistent
// block of M::kGroups warpgroups that share the rows of every step, and one warp as DMA role. Groups
// wait for nobody but the DMA role, so they drift apart: one weighs while another multiplies. Two
// fixed tiles let the next task's queries land while this one is scored.
#pragma once
#include "kernels/machines/hopper/matrix_machine.cuh"
#include "kernels/machines/hopper/tuning.cuh"

namespace daybreak::kernels::hopper {

template <class K, class M, class Tuned> struct ScoringPipeline {
  using Stage = typename K::Stage;
  using Fixed = typename K::Fixed;
  using Task = typename K::Task;
  using Args = typename K::Args;
  static constexpr ScoringTuning kTuning = Tuned::kTuning;
  static constexpr int kRing = kTuning.ring, kFixed = 2, kGroups = M::kGroups;

  struct Shared {
    Stage ring[kRing];
    Fixed fixed[kFixed];
    Barrier full[kRing], empty[kRing], fixed_full[kFixed], fixed_empty[kFixed];
  };
  static constexpr int kSharedBytes = sizeof(Shared) + 1024;
  static_assert(kSharedBytes <= 232448, "shared memory of one block");

  M& m;
  Shared& sh;
  const Args& a;

  DAYBREAK_DEVICE void setup() {
    if (threadIdx.x == 0) {
      for (Barrier& b : sh.full) b.init(kWarp);
      for (Barrier& b : sh.empty) b.init(kWarpgroup * kGroups);
      for (Barrier& b : sh.fixed_full) b.init(kWarp);
      for (Barrier& b : sh.fixed_empty) b.init(kWarpgroup * kGroups);
      show_barriers();
    }
    __syncthreads();
    follow_previous();
  }

  DAYBREAK_DEVICE int tasks() const {
    return m.context.indirect ? least(__ldg(m.context.indirect), K::tasks(a)) : K::tasks(a);
  }

  DAYBREAK_DEVICE void produce() {
    uint32_t seq = 0, round = 0;
    const int count = tasks();
    for (int number = blockIdx.x; number < count; number += gridDim.x, ++round) {
      const Task task = K::task(m, a, number);
      const int f = round % kFixed;
      sh.fixed_empty[f].wait((round / kFixed & 1) ^ 1);
      m.arrived = &sh.fixed_full[f];
      K::prepare(m, task, sh.fixed[f]);
      sh.fixed_full[f].arrive();
      for (int step = 0; step < task.trips; ++step, ++seq) {
        const int slot = seq % kRing;
        sh.empty[slot].wait((seq / kRing & 1) ^ 1);
        m.arrived = &sh.full[slot];
        K::load(m, task, step, sh.ring[slot]);
        sh.full[slot].arrive();
      }
    }
  }

  DAYBREAK_DEVICE void consume() {
    typename K::Board board;
    uint32_t seq = 0, round = 0;
    const int count = tasks();
    for (int number = blockIdx.x; number < count; number += gridDim.x, ++round) {
      const Task task = K::task(m, a, number);
      const int f = round % kFixed;
      sh.fixed_full[f].wait(round / kFixed & 1);
      for (int step = 0; step < task.trips; ++step, ++seq) {
        const int slot = seq % kRing;
        typename K::Scores scores;
        m.arrived = &sh.full[slot], m.parity = seq / kRing & 1;
        K::score(m, task, step, sh.fixed[f], sh.ring[slot], scores);
        m.settle();
        K::weigh(m, task, step, sh.fixed[f], sh.ring[slot], scores, board);
        sh.empty[slot].arrive();
      }
      sh.fixed_empty[f].arrive();
    }
  }
};

template <class M, template <class> class Kernel, class Tuned>
__global__ void __launch_bounds__(kWarpgroup*(M::kGroups + 1), 1)
    scoring_kernel(const __grid_constant__ typename Kernel<M>::Args a, const Context context) {
  using Pipeline = ScoringPipeline<Kernel<M>, M, Tuned>;
  extern __shared__ uint8_t raw[];
  auto* aligned = raw + (-shared_address(raw) & 1023);
  M m;
  m.context = context;
  m.group = uniform(threadIdx.x / kWarpgroup);
  Pipeline p{m, *reinterpret_cast<typename Pipeline::Shared*>(aligned), a};
  p.setup();
  if (threadIdx.x < kWarpgroup * M::kGroups) {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Tuned::kTuning.consumer_registers));
    p.consume();
  } else {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Tuned::kTuning.dma_registers));
    if (threadIdx.x < kWarpgroup * M::kGroups + kWarp) p.produce();
  }
}

}  // namespace daybreak::kernels::hopper
