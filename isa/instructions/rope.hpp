// v.rope: rotary embedding of each row, interleaved pairs or half-split; the row of `angles` holds cos then sin.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Rope {
  static constexpr Opcode kOpcode = Opcode::rope;
  static constexpr std::string_view kName = "rope";
  static constexpr std::string_view kSentence =
      "Rotates pairs of columns by the angles of a position.";

  TileRef to;
  TileRef from;
  TileRef angles;
  int32_t interleaved = 0;

  static constexpr auto fields() {
    return std::tuple(
        operand("to", &Rope::to, Access::write, "result (rows, d)"),
        operand("from", &Rope::from, Access::read, "(rows, d)"),
        operand("angles", &Rope::angles, Access::read,
                "(1 or rows, d) f32: d/2 cosines, then d/2 sines"),
        number("interleaved", &Rope::interleaved, "1: pairs (2i, 2i+1); 0: (i, i + d/2)"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
