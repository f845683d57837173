// Where converted weights have been: bytes of a core's scratchpads that conversions fill, and of the binding
// that keeps them where they do not stay there. A slot that is used again, by the next expert, layer or
// task, counts once.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "isa/program/program.hpp"

namespace daybreak::sim {

class Workspace {
 public:
  void add(const isa::TaskProgram&, std::optional<uint16_t> binding);
  int64_t bytes() const;

 private:
  using Parts = std::map<int64_t, int64_t>;  // begin to end, apart
  static void add(Parts&, int64_t begin, int64_t end);

  std::array<Parts, isa::kSpaces> scratch_;
  Parts memory_;
};

// The slot that an instruction fills with converted weights, whatever unit it runs on; none: nullptr.
const isa::TileRef* converted_slot(const isa::Instruction&);

}  // namespace daybreak::sim
