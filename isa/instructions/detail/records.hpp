// Records of the sort unit in scratch, and the total order of selection: score descending, then position
// ascending; NaN, -inf and positions below 0 are never selected; -0 equals +0.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "isa/instructions/common.hpp"

namespace daybreak::isa::detail {

struct Record {
  float score = -std::numeric_limits<float>::infinity();
  int32_t position = -1;
};
static_assert(sizeof(Record) == 8);

inline bool selectable(float score) { return score > -std::numeric_limits<float>::infinity(); }
inline bool selectable(const Record& r) { return r.position >= 0 && selectable(r.score); }

// Ascending keys are descending scores; -0 and +0 share one.
inline uint32_t descending_key(float score) {
  const uint32_t bits = std::bit_cast<uint32_t>(score + 0.0f);
  const uint32_t ascending = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return ~ascending;
}
// The whole order in one number: smaller is better.
inline uint64_t rank(const Record& r) {
  return uint64_t{descending_key(r.score)} << 32 | uint32_t(r.position);
}

// All records of a tile, row after row.
std::vector<Record> read_records(Context& c, const TileRef& t, std::string_view instruction);
// Writes the list, padded with empty records to the tile's size.
void write_records(Context& c, const TileRef& t, std::span<const Record> list,
                   std::string_view instruction);

// Passes of 4-way merging that turn sorted runs of 32 into one, and the records they write: a run never
// grows past `keep`.
struct MergePasses {
  int64_t passes = 0, records = 0;
};
MergePasses merge_passes(int64_t records, int64_t keep);

}  // namespace daybreak::isa::detail
