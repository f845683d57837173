// What the cycles of a critical path are spent on. Finer than the causes of stalls, because work
// counts too: on a path there is no waiting that is nobody's work, only the work of someone else.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace daybreak::traces {

enum class Step : uint8_t {
  launch,
  dispatch_cold,
  dispatch_warm,
  poll,
  acknowledge,
  issue,
  fifo,
  scalar,
  descriptors,
  semaphore,
  core_signal,
  ring_slot,
  pair,
  matrix_head,
  matrix_products,
  matrix_operands,
  vector_startup,
  vector_work,
  vector_operands,
  sort_head,
  sort_work,
  exchange,
  dma_decode,
  dma_index,
  row_issue,
  request_issue,
  outstanding,
  tlb_walk,
  latency,
  noc,
  l2_miss,
  hbm_row,
  hbm_bandwidth,
  refresh,
  convert_lanes,
  scale_miss,
  port,
  other
};
inline constexpr size_t kSteps = 38;

// `who` can be made faster as a whole: all its steps together. `knobs`: the chip's, where one
// figure decides.
struct StepInfo {
  std::string_view name, who, knobs;
};

inline constexpr std::array<StepInfo, kSteps> kStepInfo{{
    {"launch latency", "scheduler", "chip.scheduler.launch"},
    {"cold dispatch", "scheduler", "chip.scheduler.dispatch_cold"},
    {"warm dispatch", "scheduler", "chip.scheduler.dispatch_warm"},
    {"scheduler thread", "scheduler", "chip.scheduler.poll"},
    {"acknowledge", "scheduler", "chip.scheduler.acknowledge"},
    {"issue", "control", "chip.core.control.issue_cycles"},
    {"full FIFO", "control", "chip.core.control.queue_depth"},
    {"scalar work", "control", "chip.core.control.scalar_load"},
    {"software descriptors", "control", "chip.core.dma.descriptor_issue"},
    {"semaphore latency", "order", "chip.core.control.semaphore_latency"},
    {"signal between cores", "order", "chip.scheduler.core_semaphore_latency"},
    {"ring slot", "ring", ""},
    {"hand-over in a pair", "order", "chip.core.dma.pair_latency"},
    {"matrix head", "matrix", "chip.core.matrix.head"},
    {"matrix products", "matrix", "chip.core.matrix.m"},
    {"matrix operand port", "matrix", "chip.core.matrix.latch_fill"},
    {"vector start-up", "vector", "chip.core.vector.startup"},
    {"vector work", "vector", "chip.core.vector.bytes_per_cycle"},
    {"vector operand banks", "vector", "chip.core.scratch.banks"},
    {"sort head", "sort", "chip.core.sort.head"},
    {"sort work", "sort", "chip.core.sort.records_per_cycle"},
    {"exchange path latency", "exchange", "chip.core.exchange.latency"},
    {"descriptor decode", "dma", "chip.core.dma.descriptor_issue"},
    {"index entries read", "memory", ""},
    {"row issue", "dma", "chip.core.dma.row_issue"},
    {"request issue", "dma", ""},
    {"outstanding limit", "dma", "chip.core.dma.outstanding"},
    {"TLB walk", "dma", "chip.core.dma.tlb.entries"},
    {"NoC and L2 latency", "memory", "chip.l2.hit_latency"},
    {"NoC or L2 contention", "memory", "chip.l2.slices"},
    {"L2 miss", "memory", "chip.l2.capacity"},
    {"HBM row or bank", "memory", "chip.hbm.map"},
    {"HBM bandwidth", "memory", "chip.hbm.stacks"},
    {"refresh", "memory", "chip.hbm.refresh"},
    {"convert lanes", "dma", "chip.core.dma.convert_lanes"},
    {"scale miss", "dma", "chip.core.dma.scale_cache"},
    {"DMA port", "dma", "chip.core.dma.bytes_per_cycle"},
    {"unexplained", "unexplained", ""},
}};

// Steps that are a limit, not work: an edge that holds such a part is lifted as a whole when the
// step costs nothing (unlimited ring slots, FIFOs without end).
constexpr bool is_limit(Step s) { return s == Step::ring_slot || s == Step::fifo; }

constexpr const StepInfo& info_of(Step s) { return kStepInfo[size_t(s)]; }
constexpr std::string_view name_of(Step s) { return info_of(s).name; }

}  // namespace daybreak::traces
