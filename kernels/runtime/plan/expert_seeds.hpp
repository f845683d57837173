// Seeded weights and routing of an expert layer.
#pragma once
#include <vector>

#include "isa/memory/image.hpp"
#include "kernels/runtime/plan/expert_workload.hpp"

namespace daybreak::kernels {

// MXFP4 weights as a quantiser leaves them that rounds a block's largest magnitude up to 6 times a power of
// two: the scale of a block of 32 Gaussians of deviation 2^exponent is drawn from its distribution, the
// codes from the Gaussian cut off there. `codes`: 16 bytes a block, `scales`: one byte a block.
isa::Generator mx_codes(uint64_t seed, uint64_t stream, int exponent);
isa::Generator mx_scales(uint64_t seed, uint64_t stream, int exponent);
// The same weights after conversion, rows of `cols`: E4M3 codes, fp32 group scales; and as BF16 (exact).
isa::Generator mx_as_fp8(uint64_t seed, uint64_t stream, int exponent, int64_t cols);
isa::Generator mx_as_fp8_scales(uint64_t seed, uint64_t stream, int exponent, int64_t cols);
isa::Generator mx_as_bf16(uint64_t seed, uint64_t stream, int exponent);

// Chosen experts (tokens, topk), ascending, of a source that is not computed. UserError for a file that
// is too short or names experts out of order or range.
std::vector<int32_t> routing_of(const ExpertWorkload&);

}  // namespace daybreak::kernels
