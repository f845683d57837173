// MXFP4 groups to E4M3 codes with one power-of-two scale (operators.md section 9).
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace daybreak::isa {

// Which nibble of a block's 16 bytes an element is: 2j, 2j+1 low then high (gpt-oss and most others),
// high then low, or j low and j+16 high (ggml).
enum class NibbleOrder : uint8_t { low_first, high_first, split };
constexpr int count_of(NibbleOrder) { return 3; }
constexpr std::string_view name_of(NibbleOrder o) {
  constexpr std::string_view names[] = {"low_first", "high_first", "split"};
  return names[int(o)];
}

// What conversions have met, summed over a run. A NaN block (scale byte 0xFF) is never forgotten.
struct ConversionCounters {
  int64_t exact_groups = 0, inexact_groups = 0, nan_blocks = 0;
  double largest_error = 0;  // of an element, as a share of its group's largest magnitude
};

namespace detail {

inline constexpr int kMxBlock = 32;   // elements of a block: 16 bytes, one scale byte
inline constexpr int kMxGroup = 128;  // elements that share a scale after conversion
inline constexpr int kMxBlockBytes = 16;

// Converts one group: `bytes` holds its blocks (16 bytes each), `scales` their E8M0 bytes (at most 4).
// 32 codes a block go to `to`; returns the group's scale 2^(G - 127) with G = largest byte of a block
// that has a non-zero code, less 6, kept in [1, 254] (127 where every code is zero). A block of scale
// 0xFF becomes codes 0x7F. `bias`: of the scale bytes; 127 is the standard.
float convert_mx_group(const uint8_t* bytes, std::span<const uint8_t> scales, NibbleOrder order,
                       int bias, uint8_t* to, ConversionCounters* counters);

}  // namespace detail
}  // namespace daybreak::isa
