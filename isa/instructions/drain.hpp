// m.drain: an accumulator leaves the matrix unit, with cast.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Drain {
  static constexpr Opcode kOpcode = Opcode::drain;
  static constexpr std::string_view kName = "drain";
  static constexpr std::string_view kSentence =
      "Copies an accumulator tile to another scratchpad, casting to its format.";

  TileRef to;
  TileRef from;

  static constexpr auto fields() {
    return std::tuple(operand("to", &Drain::to, Access::write, "destination tile"),
                      operand("from", &Drain::from, Access::read, "accumulator tile"));
  }
  Queue queue() const { return Queue::matrix; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
