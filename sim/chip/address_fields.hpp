// The order of an address's fields above the atom, from the least significant on: what chip.hbm.map
// names. A list says "column:3 channel stack pc group column bank sid row": a field may be split, its
// lower parts with their bits, its last part without; every field stands there.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "configs/reader/errors.hpp"

namespace daybreak::sim {

struct HbmConfig;

enum class AddressField : uint8_t { column, channel, stack, pc, group, bank, sid, row };
inline constexpr int kAddressFields = 8;

// So many values of a field; 0: all that its lower parts leave.
struct AddressPart {
  AddressField field;
  int64_t values;
};

// How many values a field has.
int64_t field_values(const HbmConfig& hbm, AddressField field);

// Checks the words of a list. Throws UserError that names the word and what is allowed.
void check_address_map(const std::string& text, const Position& at);

// The parts that `hbm.map` names for this geometry: a list, or
//   fine64     column up to 64 B, channel, stack, pc, group, column, bank, sid, row
//   coarse256  the same with 256 B
//   rowlinear  channel, stack, column, pc, sid, group, bank, row
// (memory.md section 2, with the stacks above the channels so that neighbouring chunks spread over
// all of them.) Throws UserError when a lower part does not divide its field.
std::vector<AddressPart> address_parts(const HbmConfig& hbm);

}  // namespace daybreak::sim
