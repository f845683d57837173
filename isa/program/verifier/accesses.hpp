// What an entry touches, as regions of scratchpads and of memory.
#pragma once
#include <functional>
#include <string>

#include "isa/program/program.hpp"
#include "isa/program/region.hpp"

namespace daybreak::isa::verifier {

// A rectangle of a tensor. `chosen`: an index table or page table says which of its rows are meant.
struct MemoryUse {
  TensorRef view;
  int64_t rows = 0, cols = 0;
  bool write = false;
  bool chosen = false;
};
void for_each_memory_use(const Instruction&, const TaskProgram&,
                         const std::function<void(const MemoryUse&)>&);

// Its bytes relative to the binding's base.
Region region_of(const MemoryUse&, const TaskProgram&);

}  // namespace daybreak::isa::verifier
