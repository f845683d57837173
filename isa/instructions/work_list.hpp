// v.work.list: pieces of segments, each as (segment, first row of the segment, rows of the segment, number
// of the piece in it): what an indirect launch works through. Segments without rows make no piece.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct WorkList {
  static constexpr Opcode kOpcode = Opcode::work_list;
  static constexpr std::string_view kName = "work_list";
  static constexpr std::string_view kSentence =
      "Lists the pieces of all segments that have rows and how many tasks they are worth.";

  TileRef list;
  TileRef grid;
  TileRef lengths;
  int32_t first = 0;
  int32_t align = 1;
  int32_t piece = 1;
  int32_t parts = 1;
  int32_t most = 1;

  static constexpr auto fields() {
    return std::tuple(
        operand("list", &WorkList::list, Access::write, "(n, 4) i32; -1 past the last piece"),
        operand("grid", &WorkList::grid, Access::write, "(1, 2) i32: pieces, tasks"),
        operand("lengths", &WorkList::lengths, Access::read, "(1, segments) i32"),
        number("first", &WorkList::first, "number of the first piece listed"),
        number("align", &WorkList::align, "segments start at multiples of it"),
        number("piece", &WorkList::piece, "most rows of a piece"),
        number("parts", &WorkList::parts, "parts each piece can be divided into"),
        number("most", &WorkList::most, "most tasks"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
