// d.scatter: tile rows to the tensor rows that an index table names (KV append by slot mapping).
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Scatter {
  static constexpr Opcode kOpcode = Opcode::scatter;
  static constexpr std::string_view kName = "scatter";
  static constexpr std::string_view kSentence =
      "Copies tile rows to the tensor rows that a slot list names; a negative slot writes nothing.";

  TensorRef to;
  TileRef from;
  TensorRef slots;

  static constexpr auto fields() {
    return std::tuple(operand("to", &Scatter::to, Access::write,
                              "col = first column written; row is added to every slot"),
                      operand("from", &Scatter::from, Access::read, "tile, one row per slot"),
                      steering("slots", &Scatter::slots, Access::read,
                               "slot list, int32; entry i is (slots.row, slots.col + i)"));
  }
  Queue queue() const { return Queue::dma_out; }
  Work work() const;
  void execute(Context&) const;
  void for_each_segment(const Context&, const SegmentSink&) const;
};

}  // namespace daybreak::isa
