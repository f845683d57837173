// v.norm: RMSNorm or LayerNorm of each row, in fp32.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct NormRows {
  static constexpr Opcode kOpcode = Opcode::norm_rows;
  static constexpr std::string_view kName = "norm_rows";
  static constexpr std::string_view kSentence =
      "Normalises each row: RMSNorm, or LayerNorm with bias.";

  TileRef to;
  TileRef from;
  TileRef weight;
  TileRef bias;
  float epsilon = 1e-6f;
  int32_t centre = 0;

  static constexpr auto fields() {
    return std::tuple(
        operand("to", &NormRows::to, Access::write, "result"),
        operand("from", &NormRows::from, Access::read, "(rows, cols)"),
        operand("weight", &NormRows::weight, Access::read, "(1, cols) f32"),
        operand("bias", &NormRows::bias, Access::read, "(1, cols) f32; empty for RMSNorm"),
        number("epsilon", &NormRows::epsilon, "added to the mean square or variance"),
        number("centre", &NormRows::centre, "1: subtract the mean (LayerNorm)"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
