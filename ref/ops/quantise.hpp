// Per-group activation quantisation to E4M3 (operators.md section 2, act_quant), in fp32 as stated
// there, and the 656-byte KV record (section 4). A group with a NaN has a NaN scale and codes 0x7F.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace daybreak::ref {

enum class ScaleForm : uint8_t {
  plain,      // max(amax, 1e-4) / 448
  ue8m0_ceil  // the smallest power of two not below that
};

struct Quantised {
  std::vector<uint8_t> codes;  // (rows, cols) E4M3
  std::vector<float> scales;   // (rows, ceil(cols / group))
};

// x is (rows, cols); the last group of a row may be shorter.
Quantised act_quant(std::span<const float> x, int64_t cols, ScaleForm form, int64_t group = 128);

constexpr int64_t kLatentDim = 512;  // E4M3 in a record, four groups of 128
constexpr int64_t kRopeDim = 64;     // BF16, not quantised
constexpr int64_t kKeyDim = kLatentDim + kRopeDim;
constexpr int64_t kRecordBytes = 656;  // 512 codes, 4 fp32 scales, 64 bf16

// latent (512) and rope part (64 bf16 bits) of one token to its record.
std::array<uint8_t, kRecordBytes> encode_record(std::span<const float> latent,
                                                std::span<const uint16_t> rope, ScaleForm form);

// The 576 values attention uses: code * scale in fp32, rounded to BF16, then the rope part.
void decode_record(const uint8_t* record, float* to);

}  // namespace daybreak::ref
