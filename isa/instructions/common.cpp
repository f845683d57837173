#include "isa/instructions/common.hpp"

#include "configs/reader/errors.hpp"
#include "isa/instructions/detail/rows.hpp"

namespace daybreak::isa {

const TensorDesc& Context::tensor(const TensorRef& r) const {
  if (r.tensor >= tensors.size())
    throw InvariantError("tensor t" + std::to_string(r.tensor) +
                         " is not declared; the program has " + std::to_string(tensors.size()));
  return tensors[r.tensor];
}

const Binding& Context::binding(const TensorRef& r) const {
  const TensorDesc& t = tensor(r);
  if (t.binding >= bindings.size())
    throw InvariantError("tensor t" + std::to_string(r.tensor) + " is unbound: binding " +
                         std::to_string(t.binding) + " of " + std::to_string(bindings.size()));
  return bindings[t.binding];
}

Address Context::address(const TensorRef& r, int64_t row, int64_t col) const {
  return Address(binding(r).base.value + uint64_t(tensor(r).offset_of(r.row + row, r.col + col)));
}

std::byte* Context::row(const TileRef& t, int64_t r) const {
  const auto space = scratch.bytes(t.space);
  const int64_t at = int64_t(t.offset) + r * int64_t(t.pitch);
  if (r < 0 || r >= int64_t(t.rows) || at + t.row_bytes() > int64_t(space.size()))
    detail::fail("scratch", "row " + std::to_string(r) + " of " + detail::describe(t) +
                                " lies outside the tile or past the scratchpad's " +
                                std::to_string(space.size()) + " bytes");
  return space.data() + at;
}

void Context::require_real(const TensorRef& r) const {
  const Binding& b = binding(r);
  if (b.phantom)
    throw InvariantError("steering read of phantom data: binding " + b.name +
                         " is not kept in this run, but its values decide addresses or extents");
}

}  // namespace daybreak::isa
