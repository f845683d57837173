#include "sim/units/vector.hpp"

#include <array>
#include <type_traits>

#include "sim/memory/scratchpad.hpp"

namespace daybreak::sim {
namespace {

constexpr int64_t kLaneBytes = 4;  // arithmetic is fp32

double bank_factor(const CoreConfig& core, const isa::Instruction& instruction) {
  std::array<isa::TileRef, 8> tiles;
  size_t count = 0;
  std::visit(
      [&](const auto& i) {
        isa::for_each_operand(i, [&](const auto& operand, isa::Access, bool) {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(operand)>, isa::TileRef>)
            if (count < tiles.size()) tiles[count++] = operand;
        });
      },
      instruction);
  return bank_conflict_factor(std::span(tiles).first(count), core.scratch);
}

}  // namespace

Cost vector_cost(const CoreConfig& core, const isa::Instruction& instruction, const isa::Work& w) {
  const VectorConfig& c = core.vector;
  const auto cycles = [&](isa::VectorClass which, int64_t per_unit, int64_t divisor = 1) {
    return ceil_div(w.elements[int(which)] * divisor, per_unit * c.units);
  };
  const int64_t lanes = std::max<int64_t>(1, c.bytes_per_cycle / kLaneBytes);
  const Cycle streamed = cycles(isa::VectorClass::simple, lanes) +
                         cycles(isa::VectorClass::reduce, lanes) +
                         cycles(isa::VectorClass::special, lanes, c.special_divisor) +
                         cycles(isa::VectorClass::cast, c.cast_per_cycle) +
                         cycles(isa::VectorClass::dequantise, c.dequantise_per_cycle);
  const double factor = bank_factor(core, instruction);
  const Cycle banked = Cycle(std::ceil(double(streamed) * factor));
  const Cycle path = ceil_div(w.accumulator_bytes, core.exchange.bytes_per_cycle);
  return {.busy = c.startup + streamed,
          .stalled = std::max(banked, path) > streamed ? std::max(banked, path) - streamed : 0,
          .tail = w.accumulator_bytes > 0 ? core.exchange.latency : 0,
          .fixed = c.startup};
}

}  // namespace daybreak::sim
