// v.raise: running row maximum with slack (online softmax).
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct RaiseRows {
  static constexpr Opcode kOpcode = Opcode::raise_rows;
  static constexpr std::string_view kName = "raise_rows";
  static constexpr std::string_view kSentence =
      "Keeps the old row maximum unless the row rises more than the slack above it.";

  TileRef to;
  TileRef old;
  TileRef from;
  float slack = 0;

  static constexpr auto fields() {
    return std::tuple(
        operand("to", &RaiseRows::to, Access::write, "(rows, 1) new maximum"),
        operand("old", &RaiseRows::old, Access::read, "(rows, 1) old maximum"),
        operand("from", &RaiseRows::from, Access::read, "(rows, cols) scores"),
        number("slack", &RaiseRows::slack, "how far scores may rise above the maximum"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
