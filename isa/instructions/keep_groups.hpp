// v.keep.groups: of every row's equal groups of columns the best stay, the others become -inf
// (group-limited routing: a group counts as the sum of its best two). Ties: the lower group.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct KeepGroups {
  static constexpr Opcode kOpcode = Opcode::keep_groups;
  static constexpr std::string_view kName = "keep_groups";
  static constexpr std::string_view kSentence =
      "Keeps the best groups of columns of each row and sets the others to -inf.";

  TileRef to;
  TileRef from;
  int32_t count = 0;
  int32_t groups = 1;
  int32_t keep = 1;

  static constexpr auto fields() {
    return std::tuple(operand("to", &KeepGroups::to, Access::write, "(rows, cols) f32"),
                      operand("from", &KeepGroups::from, Access::read, "(rows, cols) f32"),
                      number("count", &KeepGroups::count, "columns that are valid; others pass"),
                      number("groups", &KeepGroups::groups, "equal groups of those columns"),
                      number("keep", &KeepGroups::keep, "groups that stay"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
