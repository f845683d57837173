// v.row: every element of row r with element r of a column vector (broadcast along the row).
#pragma once
#include "isa/instructions/combine.hpp"
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct RowApply {
  static constexpr Opcode kOpcode = Opcode::row_apply;
  static constexpr std::string_view kName = "row_apply";
  static constexpr std::string_view kSentence =
      "Combines each row of a tile with its element of a column vector, in fp32.";

  TileRef to;
  TileRef from;
  TileRef rows;
  Arithmetic function = Arithmetic::multiply;
  float when_zero = 0;

  static constexpr auto fields() {
    return std::tuple(operand("to", &RowApply::to, Access::write, "result (rows, cols)"),
                      operand("from", &RowApply::from, Access::read, "(rows, cols)"),
                      operand("rows", &RowApply::rows, Access::read, "(rows, 1) f32"),
                      number("function", &RowApply::function, "the operation"),
                      number("when_zero", &RowApply::when_zero, "result of a division by zero"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
