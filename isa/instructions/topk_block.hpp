// q.topk: the best k of a block of scores as records sorted by (score descending, position ascending). NaN and -inf are never
// selected, -0 equals +0; a list shorter than k ends in records of position -1 and score -inf. sort32 then merge4 passes, or histogram select.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct TopkBlock {
  static constexpr Opcode kOpcode = Opcode::topk_block;
  static constexpr std::string_view kName = "topk_block";
  static constexpr std::string_view kSentence =
      "Sorts a block of scores into a list of its best records.";

  TileRef to;
  TileRef scores;
  int32_t first = 0;
  int32_t count = 0;
  int32_t k = 0;

  static constexpr auto fields() {
    return std::tuple(operand("to", &TopkBlock::to, Access::write, "(1, k) records"),
                      operand("scores", &TopkBlock::scores, Access::read, "f32 scores, n elements"),
                      number("first", &TopkBlock::first, "position of the first score"),
                      number("count", &TopkBlock::count, "scores that are valid"),
                      number("k", &TopkBlock::k, "records kept"));
  }
  Queue queue() const { return Queue::sort; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
