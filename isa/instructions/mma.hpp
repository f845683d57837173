// m.mma: acc (m x n, fp32) = or += a (m x k) times b. BF16: each 64-element chunk of k is summed in double, ascending,
// rounded to fp32 and added to the accumulator. FP8: chunks of 128, exact in double. (design.md section 6)
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

struct Mma {
  static constexpr Opcode kOpcode = Opcode::mma;
  static constexpr std::string_view kName = "mma";
  static constexpr std::string_view kSentence =
      "Multiplies two operand tiles into an fp32 accumulator tile.";

  TileRef acc;
  TileRef a;
  TileRef b;
  int32_t b_transposed = 0;
  int32_t accumulate = 0;

  static constexpr auto fields() {
    return std::tuple(operand("acc", &Mma::acc, Access::update, "accumulator, f32 (m, n)"),
                      operand("a", &Mma::a, Access::read, "(m, k)"),
                      operand("b", &Mma::b, Access::read, "(n, k) if transposed, else (k, n)"),
                      number("b_transposed", &Mma::b_transposed, "1: b is (n, k)"),
                      number("accumulate", &Mma::accumulate, "0: the accumulator is overwritten"));
  }
  Queue queue() const { return Queue::matrix; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
