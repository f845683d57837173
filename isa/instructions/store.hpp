// d.cp: a tile into a rectangle of a tensor; elements outside the tensor are not written (rule skip).
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Store {
  static constexpr Opcode kOpcode = Opcode::store;
  static constexpr std::string_view kName = "store";
  static constexpr std::string_view kSentence =
      "Copies a tile, row by row, into a rectangle of a tensor of the same format.";

  TensorRef to;
  TileRef from;

  static constexpr auto fields() {
    return std::tuple(operand("to", &Store::to, Access::write, "top left element written"),
                      operand("from", &Store::from, Access::read, "tile stored"));
  }
  Queue queue() const { return Queue::dma_out; }
  Work work() const;
  void execute(Context&) const;
  void for_each_segment(const Context&, const SegmentSink&) const;
};

}  // namespace daybreak::isa
