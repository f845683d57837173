// Rotary position embedding (operators.md section 2): frequencies with or without YaRN, both
// layouts.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace daybreak::ref {

struct RopeParameters {
  int64_t dim = 64;  // columns rotated, even
  double theta = 10000;
  bool yarn = false;  // the fields below count only if set
  double factor = 1;
  int64_t original_positions = 4096;
  double beta_fast = 32, beta_slow = 1;
  bool truncate = true;  // round the ramp's ends outwards to whole indices (gpt-oss: no)
};

enum class RopeLayout : uint8_t {
  interleaved,  // pairs (2i, 2i + 1)
  half_split    // pairs (i, i + dim / 2)
};

// Angle per position of each pair, dim / 2 of them, in radians.
std::vector<double> rope_frequencies(const RopeParameters&);

// cos then sin of a position, dim / 2 of each, times `magnitude` (1 for the DeepSeek models).
std::vector<double> rope_angles(std::span<const double> frequencies, int64_t position,
                                double magnitude = 1);

// Rotates each row of x, (rows, dim), by the angles of its position; positions is (rows).
std::vector<double> rope(std::span<const float> x, std::span<const int64_t> positions,
                         std::span<const double> frequencies, RopeLayout layout,
                         double magnitude = 1);

}  // namespace daybreak::ref
