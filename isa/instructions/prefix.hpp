// v.prefix: where each of a row of segments starts, each rounded up to a multiple: first rows of the
// experts, plus what earlier blocks of tokens have taken of each.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Prefix {
  static constexpr Opcode kOpcode = Opcode::prefix;
  static constexpr std::string_view kName = "prefix";
  static constexpr std::string_view kSentence =
      "Sums lengths, each rounded up to a multiple, exclusively, and adds a row of offsets.";

  TileRef to;
  TileRef lengths;
  TileRef offsets;
  int32_t align = 1;

  static constexpr auto fields() {
    return std::tuple(
        operand("to", &Prefix::to, Access::write, "(1, n) i32: starts"),
        operand("lengths", &Prefix::lengths, Access::read, "(1, n) i32, not negative"),
        operand("offsets", &Prefix::offsets, Access::read, "(1, n) i32, added"),
        number("align", &Prefix::align, "segments take a multiple of it"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
