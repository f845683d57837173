// Bank conflicts of a vector instruction's operands in one scratchpad.
//
// Rule: a scratchpad has `banks` banks of `bank_width` bytes per cycle, byte x in bank (x /
// bank_width) % banks, one access per bank and cycle. Operands advance together from their first
// byte, so two operands whose first bytes fall in the same bank meet in the same bank every cycle,
// and the bank serves them one after the other. The factor is the largest number of operands that
// start in one bank. An operand that stays inside one bank row (a broadcast scalar or row vector
// shorter than bank_width) is read once and does not count. Operands with equal region count once
// (an in-place update's read and write use the two halves of a cycle).
#pragma once
#include <span>

#include "isa/program/tile.hpp"
#include "sim/chip/config.hpp"

namespace daybreak::sim {

// Slow-down >= 1 of an instruction that streams all `operands` at once; those of different
// scratchpads never meet, and empty ones are ignored.
double bank_conflict_factor(std::span<const isa::TileRef> operands, const ScratchConfig&);

}  // namespace daybreak::sim
