// Counter-based random numbers: a value is a function of (seed, stream, index) alone, so any part
// of a tensor can be made on first touch, in any order, on any machine, with the same bits.
#pragma once
#include <cstdint>
#include <span>

namespace daybreak::numeric {

// 64 well-mixed bits (SplitMix64 finaliser over the three words).
uint64_t mix(uint64_t seed, uint64_t stream, uint64_t index);

// Uniform integer below `bound` (> 0), Lemire multiply-high.
uint64_t below(uint64_t bits, uint64_t bound);

// Standard normal values rounded to BF16, elements [first, first + to.size()) of the stream, as
// fp32. Made from 16 random bits each through one table of 65,536 quantiles: fast, and exactly
// repeatable.
void gaussian_bf16(uint64_t seed, uint64_t stream, uint64_t first, std::span<float> to);

}  // namespace daybreak::numeric
