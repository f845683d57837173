// d.cvt.mxf4.f8: MXFP4 weights of memory become E4M3 codes and group scales of a scratch tile on the
// way. Blocks of 32 elements with one E8M0 byte; groups of 128 get one fp32 power of two. The last group
// of a row may be shorter; what lies outside the tensor is code 0 and scale 0. (operators.md section 9)
#pragma once
#include "isa/instructions/common.hpp"
#include "isa/instructions/detail/mxfp4.hpp"

namespace daybreak::isa {

struct StreamMxfp4 {
  static constexpr Opcode kOpcode = Opcode::stream_mxfp4;
  static constexpr std::string_view kName = "stream_mxfp4";
  static constexpr std::string_view kSentence =
      "Loads MXFP4 rows and their block scales and writes E4M3 codes with one scale per 128.";

  TileRef to;
  TileRef scales;
  TensorRef from;
  TensorRef from_scales;
  NibbleOrder order = NibbleOrder::low_first;
  int32_t bias = 127;

  static constexpr auto fields() {
    return std::tuple(
        operand("to", &StreamMxfp4::to, Access::write,
                "E4M3 codes (rows, cols), the workspace slot"),
        operand("scales", &StreamMxfp4::scales, Access::write, "(rows, cols / 128 rounded up) f32"),
        operand("from", &StreamMxfp4::from, Access::read, "e2m1 codes; col is a multiple of 128"),
        operand("from_scales", &StreamMxfp4::from_scales, Access::read,
                "e8m0 bytes (rows, columns / 32 rounded up), the same corner"),
        number("order", &StreamMxfp4::order, "which nibble of a block's bytes an element is"),
        number("bias", &StreamMxfp4::bias, "of the scale bytes"));
  }
  Queue queue() const { return Queue::dma_in; }
  Work work() const;
  void execute(Context&) const;
  // The block scales first, then the codes.
  void for_each_segment(const Context&, const SegmentSink&) const;

  // Bytes of block scales among them.
  int64_t scale_bytes(const Context&) const;

  // Columns of the scale tensor that the tile's columns take.
  int64_t block_columns() const { return (to.cols + 31) / 32; }
};

}  // namespace daybreak::isa
