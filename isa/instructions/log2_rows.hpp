// v.log: log-sum-exp of a softmax row from its maximum and sum, natural logarithm.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Log2Rows {
  static constexpr Opcode kOpcode = Opcode::log2_rows;
  static constexpr std::string_view kName = "log2_rows";
  static constexpr std::string_view kSentence =
      "Turns row maximum and sum into a natural log-sum-exp; an empty row (sum 0) gives +inf.";

  TileRef to;
  TileRef max;
  TileRef sum;
  float scale = 1;

  static constexpr auto fields() {
    return std::tuple(
        operand("to", &Log2Rows::to, Access::write, "(rows, 1)"),
        operand("max", &Log2Rows::max, Access::read, "(rows, 1) largest unscaled score"),
        operand("sum", &Log2Rows::sum, Access::read, "(rows, 1)"),
        number("scale", &Log2Rows::scale, "softmax scale * log2(e)"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
