// v.reduce: one value per row, ascending columns, fp32.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

enum class Reduction : uint8_t { sum, maximum };
constexpr int count_of(Reduction) { return 2; }
constexpr std::string_view name_of(Reduction f) {
  constexpr std::string_view names[] = {"sum", "maximum"};
  return names[int(f)];
}

struct RowReduce {
  static constexpr Opcode kOpcode = Opcode::row_reduce;
  static constexpr std::string_view kName = "row_reduce";
  static constexpr std::string_view kSentence =
      "Sums a row or takes its largest element, ascending, in fp32.";

  TileRef to;
  TileRef from;
  Reduction function = Reduction::sum;

  static constexpr auto fields() {
    return std::tuple(operand("to", &RowReduce::to, Access::write, "(rows, 1) f32"),
                      operand("from", &RowReduce::from, Access::read, "(rows, cols)"),
                      number("function", &RowReduce::function, "the reduction"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
