// q.extract: positions of a sorted list, ascending, -1 last, and how many there are.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Extract {
  static constexpr Opcode kOpcode = Opcode::extract;
  static constexpr std::string_view kName = "extract";
  static constexpr std::string_view kSentence =
      "Writes the positions of a list in ascending order and their count.";

  TileRef positions;
  TileRef count;
  TileRef from;

  static constexpr auto fields() {
    return std::tuple(operand("positions", &Extract::positions, Access::write, "(1, k) i32"),
                      operand("count", &Extract::count, Access::write, "(1, 1) i32"),
                      operand("from", &Extract::from, Access::read, "sorted list"));
  }
  Queue queue() const { return Queue::sort; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
