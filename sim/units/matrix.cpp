#include "sim/units/matrix.hpp"

#include <fmt/format.h>

namespace daybreak::sim {
namespace {

int64_t reduction_per_cycle(const MatrixConfig& c, Format f) {
  if (f == Format::bf16) return c.k_bf16;
  if (f == Format::e4m3 && c.fp8) return c.k_fp8;
  throw InvariantError(fmt::format("the matrix unit does not multiply {}", name_of(f)));
}

}  // namespace

Cost matrix_cost(const CoreConfig& core, const isa::Instruction& instruction, const isa::Work& w) {
  const MatrixConfig& c = core.matrix;
  if (const auto* d = std::get_if<isa::Drain>(&instruction)) {
    const Cycle out = std::max(ceil_div(w.drain_elements, c.drain),
                               ceil_div(d->to.bytes(), core.exchange.bytes_per_cycle));
    return {.busy = out, .tail = core.exchange.latency};
  }
  const Cycle products = c.head + ceil_div(w.m, c.m) * ceil_div(w.n, c.n) *
                                      ceil_div(w.k, reduction_per_cycle(c, w.mac_format));
  const Cycle operands =
      std::max(ceil_div(w.operand_bytes, c.latch_fill), ceil_div(w.scale_bytes, c.scale_read));
  return {.busy = products, .stalled = std::max<Cycle>(0, operands - products), .fixed = c.head};
}

}  // namespace daybreak::sim
