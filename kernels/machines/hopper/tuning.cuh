// How device pipelines schedule a kernel: data per (kernel, machine).
#pragma once

namespace daybreak::kernels::hopper {

// Gathered attention. Two slots and one board fill shared memory with 64 heads of BF16.
struct AttentionTuning {
  int ring = 2;           // slots
  int score_ahead = 320;  // columns scored before the accumulation of the step before
  int score_part = 320;   // columns scored at a time: how much must have landed to go on
  int dma_registers = 72, consumer_registers = 216;  // a thread of either role
};
// Scoring without selection: `groups` warpgroups score 64 keys each of a step.
struct ScoringTuning {
  int ring = 4;
  int dma_registers = 32, consumer_registers = 112;
};
// Kernels of rows and of selection: the whole block executes every operation.
struct BlockTuning {
  int blocks = 2;  // that share a multiprocessor
  int ring = 1;
  int scratch = 0;  // bytes for locals of bodies
};

}  // namespace daybreak::kernels::hopper
