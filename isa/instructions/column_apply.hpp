// v.column: every element of column c with element c of a row vector (broadcast down the column).
#pragma once
#include "isa/instructions/combine.hpp"
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct ColumnApply {
  static constexpr Opcode kOpcode = Opcode::column_apply;
  static constexpr std::string_view kName = "column_apply";
  static constexpr std::string_view kSentence =
      "Combines each column of a tile with its element of a row vector, in fp32.";

  TileRef to;
  TileRef from;
  TileRef columns;
  Arithmetic function = Arithmetic::multiply;

  static constexpr auto fields() {
    return std::tuple(
        operand("to", &ColumnApply::to, Access::write, "result (rows, cols)"),
        operand("from", &ColumnApply::from, Access::read, "(rows, cols)"),
        operand("columns", &ColumnApply::columns, Access::read, "(1, cols) or (cols, 1) f32"),
        number("function", &ColumnApply::function, "the operation"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
