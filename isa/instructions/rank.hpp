// q.rank: every entry takes the next number of its own counter: histogram of routed experts, and rows of
// the tokens that go to each. Entries are taken row by row; an entry of -1 takes none.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Rank {
  static constexpr Opcode kOpcode = Opcode::rank;
  static constexpr std::string_view kName = "rank";
  static constexpr std::string_view kSentence =
      "Numbers entries with the counter each of them names and counts these up.";

  TileRef to;
  TileRef counters;
  TileRef entries;

  static constexpr auto fields() {
    return std::tuple(
        operand("to", &Rank::to, Access::write, "(cols, rows) i32, -1 for -1; none: only counted"),
        operand("counters", &Rank::counters, Access::update, "(1, n) i32"),
        operand("entries", &Rank::entries, Access::read,
                "(rows, cols) i32: a counter each, or -1"));
  }
  Queue queue() const { return Queue::sort; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
