// Random contents made on the device, too large to carry: a pure function of seed and place.
#pragma once
#include <cstdint>

namespace daybreak::device {

void fill_bf16(uint8_t* to, int64_t count, uint64_t seed, float deviation);
void fill_f32(uint8_t* to, int64_t count, uint64_t seed, float deviation);
void fill_codes(uint8_t* to, int64_t count, uint64_t seed, float deviation);  // E4M3
// 656-byte records of values with a deviation of 1/2; scales are powers of two, or any.
void fill_records(uint8_t* to, int64_t records, uint64_t seed, bool any_scale);
// 8448-byte pages of index keys.
void fill_index_pages(uint8_t* to, int64_t pages, uint64_t seed);
// Rows named by `rows` (or -1: skipped) of `row_bytes` bytes, one after the other.
void collect_rows(uint8_t* to, const uint8_t* from, const int32_t* rows, int count, int row_bytes);

}  // namespace daybreak::device
