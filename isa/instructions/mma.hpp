// m.mma: acc (m x n, fp32) = or += a (m x k) times b. BF16: each 64-element chunk of k is summed in double, ascending,
// rounded to fp32 and added to the accumulator. FP8: chunks of 128, exact in double. (design.md section 6)
// With group scales, chunks of 128 whatever the format: the rounded sum of chunk g is multiplied by
// a_scales[i][g] * b_scales[j][g] before it is added. (operators.md section 2, fp8_gemm)
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
  TileRef a_scales;
  TileRef b_scales;
  int32_t b_transposed = 0;
  int32_t accumulate = 0;

  static constexpr auto fields() {
    return std::tuple(operand("acc", &Mma::acc, Access::update, "accumulator, f32 (m, n)"),
                      operand("a", &Mma::a, Access::read, "(m, k)"),
                      operand("b", &Mma::b, Access::read, "(n, k) if transposed, else (k, n)"),
                      operand("a_scales", &Mma::a_scales, Access::read, "(m, k / 128) f32 or none"),
                      operand("b_scales", &Mma::b_scales, Access::read, "(n, k / 128) f32 or none"),
                      number("b_transposed", &Mma::b_transposed, "1: b is (n, k)"),
                      number("accumulate", &Mma::accumulate, "0: the accumulator is overwritten"));
  }
  Queue queue() const { return Queue::matrix; }
  Work work() const;
  void execute(Context&) const;

  bool fp8() const { return a.format == Format::e4m3 && b.format == Format::e4m3; }
  bool scaled() const { return !a_scales.empty() || !b_scales.empty(); }
  // Elements of the reduction that are summed before a rounding.
  uint32_t chunk() const { return fp8() || scaled() ? 128 : 64; }
};

}  // namespace daybreak::isa
