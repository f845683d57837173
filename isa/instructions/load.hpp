// d.cp: a rectangle of a tensor into a tile; what lies outside follows the tensor's out-of-bounds rule.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Load {
  static constexpr Opcode kOpcode = Opcode::load;
  static constexpr std::string_view kName = "load";
  static constexpr std::string_view kSentence =
      "Copies a rectangle of a tensor, row by row, into a tile of the same format.";

  TileRef to;
  TensorRef from;

  static constexpr auto fields() {
    return std::tuple(operand("to", &Load::to, Access::write, "tile filled"),
                      operand("from", &Load::from, Access::read, "top left element taken"));
  }
  Queue queue() const { return Queue::dma_in; }
  Work work() const;
  void execute(Context&) const;
  void for_each_segment(const Context&, const SegmentSink&) const;
};

}  // namespace daybreak::isa
