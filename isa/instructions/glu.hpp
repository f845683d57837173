// v.glu: gated activation of an expert, in fp32 (operators.md section 5).
#pragma once
#include "isa/instructions/common.hpp"

namespace daybreak::isa {

// silu: silu(gate) * up, both clamped first where limit > 0 (gate from above, up on both sides).
// swiglu: gate and up clamped likewise, gate * sigmoid(factor * gate) * (up + 1).
// situ: factor * tanh(gate / factor) * sigmoid(gate) * limit * tanh(up / limit).
enum class Gating : uint8_t { silu, swiglu, situ };
constexpr int count_of(Gating) { return 3; }
constexpr std::string_view name_of(Gating g) {
  constexpr std::string_view names[] = {"silu", "swiglu", "situ"};
  return names[int(g)];
}

struct Glu {
  static constexpr Opcode kOpcode = Opcode::glu;
  static constexpr std::string_view kName = "glu";
  static constexpr std::string_view kSentence =
      "Applies a gated activation to a tile of gates and a tile of values, in fp32.";

  TileRef to;
  TileRef gate;
  TileRef up;
  Gating form = Gating::silu;
  float factor = 1;
  float limit = 0;

  static constexpr auto fields() {
    return std::tuple(operand("to", &Glu::to, Access::write, "result"),
                      operand("gate", &Glu::gate, Access::read, "gates"),
                      operand("up", &Glu::up, Access::read, "values"),
                      number("form", &Glu::form, "the activation"),
                      number("factor", &Glu::factor, "alpha of swiglu, beta of situ"),
                      number("limit", &Glu::limit, "of the clamps, 0 = none; linear beta of situ"));
  }
  Queue queue() const { return Queue::vector; }
  Work work() const;
  void execute(Context&) const;
};

}  // namespace daybreak::isa
