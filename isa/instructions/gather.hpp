// d.gather: rows of a tensor, named by an index table, into a tile.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

// Two tasks that run side by side and gather the same rows can share them: one asks the memory for
// the rows and passes each on to its partner, whose own instruction of the same rows receives them.
// Both instructions have the same operands and the same result; they differ in who asks.
enum class Sharing : int32_t { alone, delivers, receives };

// Tile row i * rows_per_entry + j takes tensor row from.row + index[i] * rows_per_entry + j.
struct Gather {
  static constexpr Opcode kOpcode = Opcode::gather;
  static constexpr std::string_view kName = "gather";
  static constexpr std::string_view kSentence =
      "Copies the tensor rows that an index table names into consecutive groups of tile rows; "
      "an entry of -1 gives zeros.";

  TileRef to;                  // (entries * rows_per_entry, cols)
  TensorRef from;              // col = first column taken; row is added to every index
  TensorRef index;             // i32; entry i is (index.row, index.col + i), fetched by the engine
  int32_t rows_per_entry = 1;  // tile rows one entry fills: consecutive rows of the tensor
  TensorRef generation;  // {table generation, request} as translate wrote it; empty: not checked
  TensorRef requests;    // request level of the page table; its generation must still be that one
  int32_t software = 0;  // 1: the control processor builds each descriptor (no gather engine)
  int32_t sharing = int32_t(Sharing::alone);

  static constexpr auto fields() {
    return std::tuple(
        operand("to", &Gather::to, Access::write, "tile filled, one group of rows per entry"),
        operand("from", &Gather::from, Access::read, "tensor the rows come from"),
        steering("index", &Gather::index, Access::read, "index table entries, int32"),
        number("rows_per_entry", &Gather::rows_per_entry, "tile rows one entry fills"),
        steering("generation", &Gather::generation, Access::read,
                 "generation the table was built at"),
        steering("requests", &Gather::requests, Access::read, "request entries to compare it with"),
        number("software", &Gather::software, "1 if the control processor builds each descriptor"),
        number("sharing", &Gather::sharing,
               "1: rows go to the partner too, 2: rows come from the partner"));
  }
  bool delivers() const { return sharing == int32_t(Sharing::delivers); }
  bool receives() const { return sharing == int32_t(Sharing::receives); }
  Queue queue() const { return Queue::dma_in; }
  Work work() const;
  void execute(Context&) const;
  void for_each_segment(const Context&, const SegmentSink&) const;
};

}  // namespace daybreak::isa
