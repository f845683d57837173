// v.combine: two operands of one shape, element by element, in fp32.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

enum class Arithmetic : uint8_t { add, subtract, multiply, divide, maximum };
constexpr int count_of(Arithmetic) { return 5; }
constexpr std::string_view name_of(Arithmetic f) {
  constexpr std::string_view names[] = {"add", "subtract", "multiply", "divide", "maximum"};
  return names[int(f)];
}

struct Combine {
  static constexpr Opcode kOpcode = Opcode::combine;
  static constexpr std::string_view kName = "combine";
  static constexpr std::string_view kSentence =
      "Adds, multiplies or takes the larger of two tiles, element by element, in fp32.";

  TileRef to;
  TileRef a;
  TileRef b;
  Arithmetic function = Arithmetic::add;

  static constexpr auto fields() {
    return std::tuple(operand("to", &Combine::to, Access::write, "result"),
                      operand("a", &Combine::a, Access::read, "first"),
                      operand("b", &Combine::b, Access::read, "second"),
                      number("function", &Combine::function, "the operation"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
