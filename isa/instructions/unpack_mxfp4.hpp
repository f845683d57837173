// v.unpack.mxf4: what stream_mxfp4 does on the way, for weights that lie in scratch already: chips whose DMA
// engine does not convert.
#pragma once
#include "isa/instructions/common.hpp"
#include "isa/instructions/detail/mxfp4.hpp"

namespace daybreak::isa {

struct UnpackMxfp4 {
  static constexpr Opcode kOpcode = Opcode::unpack_mxfp4;
  static constexpr std::string_view kName = "unpack_mxfp4";
  static constexpr std::string_view kSentence =
      "Turns MXFP4 rows of scratch into E4M3 codes with one scale per 128.";

  TileRef to;
  TileRef scales;
  TileRef from;
  TileRef blocks;
  NibbleOrder order = NibbleOrder::low_first;
  int32_t bias = 127;

  static constexpr auto fields() {
    return std::tuple(
        operand("to", &UnpackMxfp4::to, Access::write, "E4M3 codes (rows, cols)"),
        operand("scales", &UnpackMxfp4::scales, Access::write, "(rows, cols / 128 rounded up) f32"),
        operand("from", &UnpackMxfp4::from, Access::read, "e2m1 codes (rows, cols)"),
        operand("blocks", &UnpackMxfp4::blocks, Access::read, "e8m0 bytes (rows, cols / 32)"),
        number("order", &UnpackMxfp4::order, "which nibble of a block's bytes an element is"),
        number("bias", &UnpackMxfp4::bias, "of the scale bytes"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
