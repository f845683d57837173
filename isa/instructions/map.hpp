// v.map: a function of one operand, element by element, in fp32.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

enum class Function : uint8_t { copy, relu, silu, sigmoid, tanh, exp2 };
constexpr int count_of(Function) { return 6; }
constexpr std::string_view name_of(Function f) {
  constexpr std::string_view names[] = {"copy", "relu", "silu", "sigmoid", "tanh", "exp2"};
  return names[int(f)];
}

struct Map {
  static constexpr Opcode kOpcode = Opcode::map;
  static constexpr std::string_view kName = "map";
  static constexpr std::string_view kSentence = "Applies a function to every element, in fp32.";

  TileRef to;
  TileRef from;
  Function function = Function::copy;
  float factor = 1;

  static constexpr auto fields() {
    return std::tuple(operand("to", &Map::to, Access::write, "result"),
                      operand("from", &Map::from, Access::read, "argument"),
                      number("function", &Map::function, "the function"),
                      number("factor", &Map::factor, "multiplies the argument first"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
