// v.fill: one value everywhere.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Fill {
  static constexpr Opcode kOpcode = Opcode::fill;
  static constexpr std::string_view kName = "fill";
  static constexpr std::string_view kSentence = "Sets every element of a tile to one value.";

  TileRef to;
  float value = 0;

  static constexpr auto fields() {
    return std::tuple(operand("to", &Fill::to, Access::write, "tile filled"),
                      number("value", &Fill::value, "the value"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
