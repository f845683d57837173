// v.exp2: 2^((from - max) * scale), row maximum broadcast.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Exp2Rows {
  static constexpr Opcode kOpcode = Opcode::exp2_rows;
  static constexpr std::string_view kName = "exp2_rows";
  static constexpr std::string_view kSentence =
      "Raises two to the scaled difference from the row maximum.";

  TileRef to;
  TileRef from;
  TileRef max;
  float scale = 1;

  static constexpr auto fields() {
    return std::tuple(operand("to", &Exp2Rows::to, Access::write, "result"),
                      operand("from", &Exp2Rows::from, Access::read, "(rows, cols)"),
                      operand("max", &Exp2Rows::max, Access::read, "(rows, 1)"),
                      number("scale", &Exp2Rows::scale, "factor of the difference"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
