// s.alu: a number of scalar operations of the control processor.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct ScalarWork {
  static constexpr Opcode kOpcode = Opcode::scalar_work;
  static constexpr std::string_view kName = "scalar_work";
  static constexpr std::string_view kSentence =
      "Spends scalar operations of the control processor.";

  int32_t operations = 1;

  static constexpr auto fields() {
    return std::tuple(number("operations", &ScalarWork::operations, "number of operations"));
  }
  Queue queue() const { return Queue::control; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
