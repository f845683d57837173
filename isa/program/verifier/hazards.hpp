// Pairs of entries that touch the same bytes, one of them writing, with no edge between them.
#pragma once
#include <vector>

#include "isa/program/verifier/schedule.hpp"

namespace daybreak::isa::verifier {

// At most `most` findings, one per pair of entries.
std::vector<Finding> hazards(const TaskProgram&, const Schedule&, const BindingTable* bindings,
                             size_t most);

}  // namespace daybreak::isa::verifier
