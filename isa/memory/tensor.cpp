#include "isa/memory/tensor.hpp"

#include "configs/reader/errors.hpp"

namespace daybreak::isa {

int64_t TensorDesc::rows() const {
  int64_t n = rank ? 1 : 0;
  for (int i = 0; i + 1 < rank; ++i) n *= dims[i];
  return n;
}

// Unsigned arithmetic: rows far outside the tensor wrap instead of overflowing.
int64_t TensorDesc::offset_of(int64_t row, int64_t col) const {
  uint64_t at = uint64_t(offset);
  if (rank == 0) return offset;
  if (rank > 1) {
    for (int i = rank - 2; i > 0; --i) {
      // Rows before the tensor (padding of a view) borrow from the outer dims like floor division.
      int64_t inside = dims[i] ? row % dims[i] : 0;
      if (inside < 0) inside += dims[i];
      at += uint64_t(inside) * uint64_t(strides[i]);
      row = dims[i] ? (row - inside) / dims[i] : 0;
    }
    at += uint64_t(row) * uint64_t(strides[0]);
  }
  const int64_t bits = bits_of(format);
  return int64_t(
      at + (bits < 8 ? uint64_t(col * bits / 8) : uint64_t(col) * uint64_t(strides[rank - 1])));
}

TensorDesc tensor(uint16_t binding, Format format, std::initializer_list<int64_t> dims) {
  if (dims.size() == 0 || dims.size() > 5)
    throw InvariantError("a tensor has 1 to 5 dims, not " + std::to_string(dims.size()));
  TensorDesc t{.binding = binding, .format = format, .rank = uint8_t(dims.size())};
  int i = 0;
  for (int64_t d : dims) {
    if (d < 0) throw InvariantError("a tensor dim cannot be negative (" + std::to_string(d) + ")");
    t.dims[i++] = d;
  }
  int64_t stride = bits_of(format) < 8 ? 1 : bits_of(format) / 8;
  t.strides[t.rank - 1] = stride;
  if (t.rank > 1) {
    stride = bytes_of(format, t.dims[t.rank - 1]);
    for (int d = t.rank - 2; d >= 0; --d) {
      t.strides[d] = stride;
      stride *= t.dims[d];
    }
  }
  return t;
}

}  // namespace daybreak::isa
