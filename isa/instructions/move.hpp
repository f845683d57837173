// Copies a tile between scratchpads of one core (the exchange path of chips whose vector unit does not reach the operand buffer).
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Move {
  static constexpr Opcode kOpcode = Opcode::move;
  static constexpr std::string_view kName = "move";
  static constexpr std::string_view kSentence =
      "Copies a tile to a tile of the same shape and format in another scratchpad.";

  TileRef to;
  TileRef from;

  static constexpr auto fields() {
    return std::tuple(operand("to", &Move::to, Access::write, "destination tile"),
                      operand("from", &Move::from, Access::read, "source tile"));
  }
  Queue queue() const { return Queue::dma_out; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
