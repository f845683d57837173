// What the chip runs: a task's program, the launches that make tasks, and the source that turns a
// launch and a task number into a program when the scheduler dispatches it.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "isa/instructions/list.hpp"

namespace daybreak::isa {

// Semaphores order queues of one core. They count; a wait takes one, a signal at `max` blocks its queue.
struct SemaphoreId {
  uint8_t value = 0;
  bool operator==(const SemaphoreId&) const = default;
};

// One instruction in issue order. Waits are taken before it starts, signals given when it retires.
struct Entry {
  Instruction instruction;
  std::vector<SemaphoreId> waits, signals;
  bool fence =
      false;         // starts only after everything earlier in its own queue has retired (DMA only)
  bool live = true;  // false: values steering leaves out its execution; its time is the same
  std::string label;  // for traces: "gather step 3"; may be empty
};

// One issue order for one core.
struct TaskProgram {
  std::string kernel;
  uint32_t task = 0;
  std::vector<TensorDesc> tensors;
  std::vector<Entry> code;
  uint32_t semaphores = 0;               // local semaphores used
  std::array<Bytes, kSpaces> scratch{};  // high-water mark per scratchpad
};

// A kernel launch. Task t of `tasks` runs when a core is free; tasks start in ascending order.
struct Launch {
  std::string kernel;
  uint32_t tasks = 0;              // grid; ignored when `grid` is not empty
  TensorRef grid;                  // indirect: int32 task count read when dependencies are met;
  TensorDesc grid_tensor;          //   `grid.tensor` is ignored, this is the descriptor
  std::vector<uint32_t> after;     // launches that must have ended (indices in the run's list)
  uint32_t stream = 0;             // launches of one stream run in order
  uint32_t priority = 0;           // higher first among ready launches
  uint32_t cores = 0;              // most cores it may occupy, lowest first; 0 = all
  uint32_t gang = 1;               // consecutive tasks that start together, on neighbouring cores
  uint32_t shared_semaphores = 0;  // counters between the cores of this launch, all start at 0
};

// Handed to the simulator by whoever knows the kernels; memory grows with cores, not tasks.
class TaskSource {
 public:
  virtual ~TaskSource() = default;
  // `launch` is an index into the run's list. Reads of `memory` are what the task's own control
  // processor would read (counts, lengths); they see everything the launch's dependencies wrote.
  virtual TaskProgram program(uint32_t launch, uint32_t task, const MemoryImage& memory) = 0;
};

// What kernels may assume of a chip; legalise rewrites the rest. Read from the chip's YAML.
struct Capabilities {
  std::array<Bytes, kSpaces> scratch{};
  Bytes latch_a, latch_b;  // operand latches of the matrix unit: one mma's A and B must fit
  bool accumulator_visible = true;  // vector unit reads and writes accumulators in place
  bool operand_visible = true;      // vector unit writes matrix operands directly
  bool pair_link = true;            // two cores may share gathered rows (Gather::sharing)
  bool gather_to_operand = true;    // DMA gathers straight into the operand scratchpad
  bool gather_engine = true;        // false: software descriptors, built by the control processor
  bool page_walker = true;          // false: translate runs on the control processor
  bool converting_dma = false;      // MXFP4 -> FP8 in flight
  bool fp8_matrix = true;           // false: FP8 operands are cast to BF16 first
  int64_t max_semaphores = 64;      // per core
  int64_t semaphore_max = 15;       // count a semaphore can hold
  int64_t queue_depth = 32;         // entries of each instruction FIFO
  int64_t cores = 1;
};

}  // namespace daybreak::isa
