// What an instruction asks for, not what it costs: cycles are the business of sim/units, which
// multiplies work by the chip's knobs and contention.
#pragma once
#include <array>
#include <cstdint>

#include "ref/numeric/format.hpp"

namespace daybreak::isa {

// Classes of vector work that chips give different rates.
enum class VectorClass : uint8_t { simple, special, reduce, cast, dequantise };
inline constexpr int kVectorClasses = 5;

struct Work {
  // matrix: one m x n x k product per instruction; operand bytes fill the latches.
  int64_t m = 0, n = 0, k = 0;
  Format mac_format = Format::bf16;
  int64_t operand_bytes = 0;   // read from the operand scratchpad into the latches
  int64_t scale_bytes = 0;     // group scales read beside them
  int64_t drain_elements = 0;  // accumulator elements that leave through the drain path
  // vector: elements by class (each pass counts; operands that are not fp32 count as cast beside them),
  // and bytes that cross the path between accumulator and vector scratchpad. `move`: all its bytes.
  std::array<int64_t, kVectorClasses> elements{};
  int64_t accumulator_bytes = 0;
  // memory: bytes asked for (padding not counted). Segments come from for_each_segment().
  int64_t read_bytes = 0, write_bytes = 0;
  int64_t index_entries = 0;      // entries of an index table the engine fetches itself
  int64_t converted = 0;          // elements that change format on the way
  int64_t block_scale_bytes = 0;  // scales of blocks looked up for that; part of read_bytes
  int64_t translations = 0;       // logical positions walked through the page table
  // sort: records through sort32 passes and through merge passes (each pass counts), extracted ones.
  int64_t sort32_records = 0, merge_records = 0, extract_records = 0;
  int64_t sort_passes = 0;  // passes of the sort unit: each pays the unit's head
  // control processor
  int64_t scalar_ops = 0, scalar_loads = 0;
};

}  // namespace daybreak::isa
