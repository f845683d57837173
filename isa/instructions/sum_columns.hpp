// v.sum.columns: adds rows of an int32 tile to one row: histograms of several cores joined.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct SumColumns {
  static constexpr Opcode kOpcode = Opcode::sum_columns;
  static constexpr std::string_view kName = "sum_columns";
  static constexpr std::string_view kSentence =
      "Adds the first rows of an int32 tile, column by column, to a row of sums.";

  TileRef sums;
  TileRef from;
  int32_t rows = 0;

  static constexpr auto fields() {
    return std::tuple(operand("sums", &SumColumns::sums, Access::update, "(1, cols) i32"),
                      operand("from", &SumColumns::from, Access::read, "(rows, cols) i32"),
                      number("rows", &SumColumns::rows, "rows that count"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
