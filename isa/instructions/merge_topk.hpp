// q.merge4: up to four sorted record lists into one, the best k kept.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct MergeTopk {
  static constexpr Opcode kOpcode = Opcode::merge_topk;
  static constexpr std::string_view kName = "merge_topk";
  static constexpr std::string_view kSentence =
      "Merges up to four sorted record lists and keeps the best.";

  TileRef to;
  TileRef a;
  TileRef b;
  TileRef c;
  TileRef d;
  int32_t k = 0;

  static constexpr auto fields() {
    return std::tuple(operand("to", &MergeTopk::to, Access::write, "(1, k) records; may be list a"),
                      operand("a", &MergeTopk::a, Access::read, "sorted list"),
                      operand("b", &MergeTopk::b, Access::read, "sorted list"),
                      operand("c", &MergeTopk::c, Access::read, "sorted list or none"),
                      operand("d", &MergeTopk::d, Access::read, "sorted list or none"),
                      number("k", &MergeTopk::k, "records kept"));
  }
  Queue queue() const { return Queue::sort; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
