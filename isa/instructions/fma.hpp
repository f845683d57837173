// v.fma: to = a * b + c, product rounded to fp32 before the sum.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Fma {
  static constexpr Opcode kOpcode = Opcode::fma;
  static constexpr std::string_view kName = "fma";
  static constexpr std::string_view kSentence =
      "Multiplies two tiles and adds a third, element by element, rounding twice.";

  TileRef to;
  TileRef a;
  TileRef b;
  TileRef c;

  static constexpr auto fields() {
    return std::tuple(operand("to", &Fma::to, Access::write, "result"),
                      operand("a", &Fma::a, Access::read, "factor"),
                      operand("b", &Fma::b, Access::read, "factor"),
                      operand("c", &Fma::c, Access::read, "addend"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
