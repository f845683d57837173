// v.cast: the same values in another format (round to nearest even, saturating for FP8).
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Cast {
  static constexpr Opcode kOpcode = Opcode::cast;
  static constexpr std::string_view kName = "cast";
  static constexpr std::string_view kSentence = "Converts a tile to another format.";

  TileRef to;
  TileRef from;

  static constexpr auto fields() {
    return std::tuple(operand("to", &Cast::to, Access::write, "result"),
                      operand("from", &Cast::from, Access::read, "source"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
