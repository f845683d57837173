// MXFP4 weights as the oracles see them (operators.md section 9): blocks of 32 E2M1 codes with one E8M0
// byte, and what becomes of a group of 128 when it gets one power-of-two scale.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace daybreak::ref {

enum class Nibbles : uint8_t { low_first, high_first, split };

struct MxLayout {
  Nibbles nibbles = Nibbles::low_first;
  int bias = 127;  // of the scale bytes
};

// The 32 codes of a block's 16 bytes, in element order.
void unpack_block(const uint8_t* bytes, Nibbles order, uint8_t* codes);

// One group of up to four blocks after conversion: values[i] * scale is what is multiplied with. A block
// of scale byte 0xFF is NaN throughout.
struct MxGroup {
  float scale = 1;             // 2^(G - bias)
  std::vector<double> values;  // E4M3 values
  bool exact = true;           // every value times the scale is the stored weight
};
MxGroup convert_group(std::span<const uint8_t> bytes, std::span<const uint8_t> scales,
                      const MxLayout& layout = {});

// The same for a caller that has room: values to `values`, the scale returned.
float convert_group(std::span<const uint8_t> bytes, std::span<const uint8_t> scales,
                    const MxLayout& layout, double* values, bool* exact = nullptr);

}  // namespace daybreak::ref
