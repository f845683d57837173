// The element formats every part of the program names, and their sizes.
#pragma once
#include <cstdint>
#include <string_view>

namespace daybreak {

// `record` is the sort unit's 8-byte (fp32 score, int32 position) pair.
enum class Format : uint8_t { f32, bf16, f16, e4m3, e5m2, e2m1, e8m0, i32, u8, record };

// Size of one element in bits.
constexpr int bits_of(Format f) {
  switch (f) {
    case Format::f32:
    case Format::i32: return 32;
    case Format::bf16:
    case Format::f16: return 16;
    case Format::e2m1: return 4;
    case Format::record: return 64;
    default: return 8;
  }
}

// Bytes of `count` elements that stand side by side (two E2M1 codes share a byte).
constexpr int64_t bytes_of(Format f, int64_t count) { return (count * bits_of(f) + 7) / 8; }

constexpr std::string_view name_of(Format f) {
  constexpr std::string_view names[] = {"f32",  "bf16", "f16", "e4m3", "e5m2",
                                        "e2m1", "e8m0", "i32", "u8",   "record"};
  return names[int(f)];
}

}  // namespace daybreak
