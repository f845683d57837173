// What can be said about a program alone, before it runs: deadlock, hazards that no edge orders,
// scratch overflow, unbound tensors, limits. (design.md section 4)
//
// Order between entries, as the chip keeps it:
//  - a queue starts its entries in issue order; matrix, vector, sort and control start one when the one
//    before has retired. The DMA queues overlap their entries (unless `fence`) but retire them in order;
//  - a control entry retires before anything behind it is issued;
//  - the k-th wait on a semaphore starts after the k-th signal. Where several queues signal one
//    semaphore, only what every arrival order guarantees counts as an edge;
//  - shared counters between cores (signal, wait) are taken as satisfiable.
// Rows that an index table chooses are not known here: two such accesses that write are left to the
// simulator's happens-before checker.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "isa/program/program.hpp"

namespace daybreak::isa {

struct Finding {
  enum class Kind : uint8_t { deadlock, hazard, overflow, unbound, limit };
  Kind kind = Kind::hazard;
  std::string message;  // names the instructions involved and, for a hazard, the missing edge
  int64_t first = -1, second = -1;  // indices of entries; -1: none
};
constexpr std::string_view name_of(Finding::Kind k) {
  constexpr std::string_view names[] = {"deadlock", "hazard", "overflow", "unbound", "limit"};
  return names[int(k)];
}

// Findings in order of their entries; empty = nothing wrong. A capability of 0 bytes is not checked.
// Without bindings, tensors are only checked against the program's own table.
std::vector<Finding> verify(const TaskProgram& program, const Capabilities& capabilities,
                            const BindingTable* bindings = nullptr);

// "entry 12 (gather in dma_in, \"gather step 3\")".
std::string describe(const TaskProgram& program, int64_t entry);

}  // namespace daybreak::isa
