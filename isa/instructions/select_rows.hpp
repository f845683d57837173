// q.select.rows: the best k of every row of scores, as ascending columns, with what another tile has
// there: routing. Order of topk_block: score descending, column ascending; NaN and -inf never.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct SelectRows {
  static constexpr Opcode kOpcode = Opcode::select_rows;
  static constexpr std::string_view kName = "select_rows";
  static constexpr std::string_view kSentence =
      "Picks the best columns of each row, ascending, and the values another tile has there.";

  TileRef columns;
  TileRef picked;
  TileRef scores;
  TileRef values;
  int32_t count = 0;
  int32_t k = 0;
  float missing = 0;

  static constexpr auto fields() {
    return std::tuple(
        operand("columns", &SelectRows::columns, Access::write, "(rows, slots) i32, -1 last"),
        operand("picked", &SelectRows::picked, Access::write, "(rows, slots) f32"),
        operand("scores", &SelectRows::scores, Access::read, "(rows, n) f32, what decides"),
        operand("values", &SelectRows::values, Access::read, "(rows, n) f32, what is picked"),
        number("count", &SelectRows::count, "columns that are valid"),
        number("k", &SelectRows::k, "columns picked at most"),
        number("missing", &SelectRows::missing, "value of a slot without a column"));
  }
  Queue queue() const { return Queue::sort; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
