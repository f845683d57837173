// v.scale_add: to = to * factor + addend on row vectors, rounding twice.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct ScaleAdd {
  static constexpr Opcode kOpcode = Opcode::scale_add;
  static constexpr std::string_view kName = "scale_add";
  static constexpr std::string_view kSentence = "Scales a row vector and adds another.";

  TileRef to;
  TileRef factor;
  TileRef addend;

  static constexpr auto fields() {
    return std::tuple(operand("to", &ScaleAdd::to, Access::update, "(rows, 1)"),
                      operand("factor", &ScaleAdd::factor, Access::read, "(rows, 1)"),
                      operand("addend", &ScaleAdd::addend, Access::read, "(rows, 1)"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
