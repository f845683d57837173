// Pipelines of kernels of rows and of selection on Hopper (kernels/tile/rowwise.hpp and
// kernels/tile/selection.hpp): persistent blocks, several to a multiprocessor, whose threads execute
// every body together. Loads run in the background, Tuning::ring steps ahead.
#pragma once
#include "kernels/machines/hopper/block_machine.cuh"
#include "kernels/machines/hopper/tuning.cuh"
#include "kernels/tile/rowwise.hpp"
#include "kernels/tile/selection.hpp"

namespace daybreak::kernels::hopper {

struct NoLifetime {};

// What differs between the two shapes: the lifetimes beside Stage, Fixed and State, and a step.
template <class K, class Pipeline> struct Step;
template <class K> struct Step<K, Rowwise> {
  typename K::Result result;
  template <class M, class Shared>
  DAYBREAK_DEVICE void run(M& m, const typename K::Task& task, int step, Shared& sh,
                           typename K::Stage& stage) {
    K::compute(m, task, step, sh.fixed, stage, sh.state, result);
    if constexpr (requires { &K::store; }) K::store(m, task, step, result);
  }
};
template <class K> struct Step<K, Selection> {
  typename K::Board board;
  template <class M, class Shared>
  DAYBREAK_DEVICE void run(M& m, const typename K::Task& task, int step, Shared& sh,
                           typename K::Stage& stage) {
    K::select(m, task, step, stage, board, sh.state);
  }
};

template <class K, class M, class Tuned> struct BlockPipeline {
  using Task = typename K::Task;
  static constexpr BlockTuning kTuning = Tuned::kTuning;
  static constexpr int kRing = kTuning.ring;
  static constexpr bool kSelects = std::is_same_v<typename K::Pipeline, Selection>;

  struct Shared {
    typename K::Stage ring[kRing];
    typename K::Fixed fixed;
    typename K::State state;
    Step<K, typename K::Pipeline> step;
    std::conditional_t<kSelects, SelectionWork, NoLifetime> work;
    alignas(16) uint8_t scratch[kTuning.scratch + 16];
  };
  static constexpr int kSharedBytes = sizeof(Shared);
  static_assert(kSharedBytes <= 232448, "shared memory of one block");

  M& m;
  Shared& sh;
  const typename K::Args& a;

  DAYBREAK_DEVICE void load(const Task& task, int step) {
    if constexpr (requires { &K::load; })
      if (step < task.trips) K::load(m, task, step, sh.ring[step % kRing]);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }

  DAYBREAK_DEVICE void run() {
    const int count =
        m.context.indirect ? least(__ldg(m.context.indirect), K::tasks(a)) : K::tasks(a);
    for (int number = blockIdx.x; number < count; number += gridDim.x) {
      const Task task = K::task(m, a, number);
      if constexpr (requires { &K::prepare; }) K::prepare(m, task, sh.fixed);
      if constexpr (requires { &K::begin; }) K::begin(m, task, sh.state);
      for (int step = 0; step < kRing; ++step) load(task, step);
      for (int step = 0; step < task.trips; ++step) {
        asm volatile("cp.async.wait_group %0;" ::"n"(kRing - 1) : "memory");
        sh.step.run(m, task, step, sh, sh.ring[step % kRing]);
        load(task, step + kRing);
      }
      copies_landed();
      if constexpr (requires { &K::finish; }) K::finish(m, task, sh.state);
      __syncthreads();
    }
  }
};

template <class M, template <class> class Kernel, class Tuned>
__global__ void __launch_bounds__(M::kThreads, Tuned::kTuning.blocks)
    block_kernel(const __grid_constant__ typename Kernel<M>::Args a, const Context context) {
  using Pipeline = BlockPipeline<Kernel<M>, M, Tuned>;
  extern __shared__ uint8_t raw[];
  auto& shared = *reinterpret_cast<typename Pipeline::Shared*>(raw);
  M m;
  m.context = context;
  if constexpr (Pipeline::kSelects) m.work = &shared.work;
  m.scratch = shared.scratch;
  m.room = Tuned::kTuning.scratch;
  follow_previous();
  Pipeline p{m, shared, a};
  p.run();
}

}  // namespace daybreak::kernels::hopper
