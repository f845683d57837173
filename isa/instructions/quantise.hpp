// v.quantise: groups of a row to E4M3 codes and one fp32 scale each (operators.md section 2).
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Quantise {
  static constexpr Opcode kOpcode = Opcode::quantise;
  static constexpr std::string_view kName = "quantise";
  static constexpr std::string_view kSentence =
      "Quantises groups of each row to E4M3 with one scale per group.";

  TileRef to;
  TileRef scales;
  TileRef from;
  int32_t group = 128;
  int32_t power_of_two = 1;

  static constexpr auto fields() {
    return std::tuple(
        operand("to", &Quantise::to, Access::write, "E4M3 codes (rows, cols)"),
        operand("scales", &Quantise::scales, Access::write, "(rows, cols / group) f32"),
        operand("from", &Quantise::from, Access::read, "(rows, cols)"),
        number("group", &Quantise::group, "columns that share a scale"),
        number("power_of_two", &Quantise::power_of_two,
               "1: scale rounded up to a power of two (ue8m0)"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
