// Bounds on the numbers of a program, so that no arithmetic on them can overflow: what the text and
// binary forms refuse and the verifier reports.
#pragma once
#include <string>

#include "isa/memory/tensor.hpp"
#include "isa/program/field.hpp"

namespace daybreak::isa {

inline constexpr int64_t kMaxTileExtent = int64_t{1} << 24;  // rows or columns of a tile
inline constexpr int64_t kMaxTensorExtent = int64_t{1}
                                            << 40;      // a dim, a row or a column of a tensor
inline constexpr int64_t kMaxReach = int64_t{1} << 60;  // bytes from a binding's base, either way
inline constexpr int64_t kMaxStride = int64_t{1} << 40;
inline constexpr size_t kMaxTensors = 65535;
inline constexpr size_t kMaxText = 65535;  // bytes of a label or kernel name

// What is wrong, as the end of a sentence that begins with the thing's name ("has 7 dims; ..."); empty
// if nothing is.
std::string fault_of(const TileRef&);
std::string fault_of(const TensorRef&);
std::string fault_of(const TensorDesc&);

}  // namespace daybreak::isa
