// What every instruction header includes: the opcode list and the execution context.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <tuple>

#include "isa/memory/image.hpp"
#include "isa/memory/tensor.hpp"
#include "isa/program/field.hpp"
#include "isa/program/tile.hpp"
#include "isa/program/types.hpp"
#include "isa/program/work.hpp"

namespace daybreak::isa {

// Opcode numbers are part of the binary form: never reuse one. 0x10 DMA, 0x20 matrix, 0x30 vector,
// 0x50 sort, 0x60 synchronisation, 0x70 control.
enum class Opcode : uint8_t {
  load = 0x10,
  store = 0x11,
  gather = 0x12,
  scatter = 0x13,
  translate = 0x14,
  stream_mxfp4 = 0x15,
  mma = 0x20,
  drain = 0x21,
  fill = 0x30,
  map = 0x31,
  combine = 0x32,
  fma = 0x33,
  cast = 0x34,
  row_reduce = 0x35,
  row_apply = 0x36,
  column_apply = 0x37,
  raise_rows = 0x38,
  exp2_rows = 0x39,
  scale_add = 0x3A,
  keep_columns = 0x3B,
  log2_rows = 0x3C,
  norm_rows = 0x3D,
  rope = 0x3E,
  hadamard = 0x3F,
  quantise = 0x40,
  dequantise = 0x41,
  move = 0x42,
  glu = 0x43,
  keep_groups = 0x44,
  sum_columns = 0x45,
  prefix = 0x46,
  work_list = 0x47,
  unpack_mxfp4 = 0x48,
  topk_block = 0x50,
  merge_topk = 0x51,
  extract = 0x52,
  select_rows = 0x53,
  rank = 0x54,
  signal = 0x60,
  wait = 0x61,
  scalar_work = 0x70,
  scalar_load = 0x71
};

struct ConversionCounters;

// What an instruction executes on. Tensors are the program's, bindings the run's.
struct Context {
  Scratch& scratch;
  MemoryImage& memory;
  std::span<const TensorDesc> tensors;
  std::span<const Binding> bindings;
  ConversionCounters* conversions = nullptr;  // what conversions meet; may be null

  // Throws InvariantError when the program has no such tensor.
  const TensorDesc& tensor(const TensorRef& r) const;
  // Base of the binding under a tensor. Throws InvariantError when it is not bound.
  const Binding& binding(const TensorRef& r) const;
  // Address of element (r.row + row, r.col + col). No bounds check against the tensor.
  Address address(const TensorRef& r, int64_t row = 0, int64_t col = 0) const;
  // The bytes of one row of a scratch tile. Throws InvariantError past the scratchpad's end.
  std::byte* row(const TileRef& t, int64_t r) const;
  // Throws InvariantError, naming the binding, when a steering operand is phantom in this run.
  void require_real(const TensorRef& r) const;
};

// A contiguous run of bytes that a memory instruction moves.
struct Segment {
  Address address;
  Bytes bytes;
  bool write;
};
using SegmentSink = std::function<void(const Segment&)>;

}  // namespace daybreak::isa
