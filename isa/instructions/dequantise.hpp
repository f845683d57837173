// v.dequantise: E4M3 times its group's fp32 scale, product in fp32, rounded to the format of `to`.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Dequantise {
  static constexpr Opcode kOpcode = Opcode::dequantise;
  static constexpr std::string_view kName = "dequantise";
  static constexpr std::string_view kSentence = "Multiplies E4M3 codes by their group scales.";

  TileRef to;
  TileRef from;
  TileRef scales;
  int32_t group = 128;

  static constexpr auto fields() {
    return std::tuple(
        operand("to", &Dequantise::to, Access::write, "(rows, cols)"),
        operand("from", &Dequantise::from, Access::read, "E4M3 codes (rows, cols)"),
        operand("scales", &Dequantise::scales, Access::read, "(rows, cols / group) f32"),
        number("group", &Dequantise::group, "columns that share a scale"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
