// Where converted weights have been: bytes of a core's scratchpads that conversions fill. A slot that
// is used again, by the next expert, layer or task, counts once.
#pragma once
#include <array>
#include <cstdint>
#include <map>

#include "isa/program/program.hpp"

namespace daybreak::sim {

class Workspace {
 public:
  void add(const isa::TaskProgram&);
  int64_t bytes() const;

 private:
  void add(const isa::TileRef&);

  std::array<std::map<uint32_t, uint32_t>, isa::kSpaces> filled_;  // begin to end, apart
};

// Whether the instruction converts weights into a slot, whatever unit it runs on.
const isa::TileRef* converted_slot(const isa::Instruction&);

}  // namespace daybreak::sim
