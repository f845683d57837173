// The only way to name memory: a tensor descriptor over a base binding (design.md section 4).
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "isa/program/types.hpp"
#include "ref/numeric/format.hpp"

namespace daybreak::isa {

// What an access outside a tensor means: an error, or (zero and skip alike) reads give zeros and writes
// leave out what lies outside.
enum class OutOfBounds : uint8_t { fault, zero, skip };
constexpr int count_of(OutOfBounds) { return 3; }
constexpr std::string_view name_of(OutOfBounds o) {
  constexpr std::string_view names[] = {"fault", "zero", "skip"};
  return names[int(o)];
}

// Rank <= 5, dims outermost first, strides in signed bytes. A tensor is seen as a matrix whose rows are
// all dims but the last, flattened: row r of dims {P, R, C} is (r / R, r % R). That is how a paged cache
// (pages, tokens per page, record) gives every token a row although page and token strides differ.
struct TensorDesc {
  uint16_t binding = 0;
  Format format = Format::f32;
  OutOfBounds out_of_bounds = OutOfBounds::fault;
  uint8_t rank = 0;
  int64_t offset = 0;  // bytes from the binding's base
  std::array<int64_t, 5> dims{};
  std::array<int64_t, 5> strides{};  // bytes; the last one is the element size
  int32_t scale = -1;                // descriptor id of its scales, -1 = none

  bool operator==(const TensorDesc&) const = default;
  int64_t cols() const { return rank ? dims[rank - 1] : 0; }
  int64_t rows() const;  // product of all dims but the last
  // Byte offset of element (row, col) from the binding's base, in 64 bits. No bounds check.
  int64_t offset_of(int64_t row, int64_t col) const;
};

// A packed row-major descriptor. Example: tensor(b, Format::bf16, {tokens * heads, 576}).
TensorDesc tensor(uint16_t binding, Format format, std::initializer_list<int64_t> dims);

// A region of memory that kernels may name. `phantom`: its contents are not kept in this run (values
// steering); an instruction that needs them to steer is an error.
struct Binding {
  std::string name;
  Address base;
  Bytes bytes;
  bool writable = true;
  bool phantom = false;
};
using BindingTable = std::vector<Binding>;  // at most 65,536; index = TensorDesc::binding

}  // namespace daybreak::isa
