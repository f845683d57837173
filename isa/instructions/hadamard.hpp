// v.hadamard: each row times the Sylvester Hadamard matrix over sqrt(n), fp32, rounded to the format of `to`.
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Hadamard {
  static constexpr Opcode kOpcode = Opcode::hadamard;
  static constexpr std::string_view kName = "hadamard";
  static constexpr std::string_view kSentence =
      "Applies the orthonormal Hadamard transform to each row.";

  TileRef to;
  TileRef from;

  static constexpr auto fields() {
    return std::tuple(operand("to", &Hadamard::to, Access::write, "(rows, n), n a power of two"),
                      operand("from", &Hadamard::from, Access::read, "(rows, n)"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
