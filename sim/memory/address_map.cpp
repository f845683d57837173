#include "sim/memory/address_map.hpp"

#include <array>

namespace daybreak::sim {
namespace {

// A bijection of [0, count) for every digit.
uint64_t mixed(uint64_t value, uint64_t digit, uint64_t count) {
  return std::has_single_bit(count) ? value ^ digit : (value + digit) % count;
}

}  // namespace

AddressMap::AddressMap(const HbmConfig& c)
    : atom_(c.atom),
      hash_(c.bank_hash),
      group_(c.bank_groups),
      bank_(c.banks),
      sids_(uint64_t(c.stack_ids)) {
  std::array<uint64_t, kAddressFields> weight;
  weight.fill(1);
  bool below_columns = true;
  for (const AddressPart& part : address_parts(c)) {
    uint64_t& at = weight[size_t(part.field)];
    const int64_t values =
        part.values > 0 ? part.values : field_values(c, part.field) / int64_t(at);
    if (values == 1) continue;
    if (below_columns) {
      below_columns = part.field != AddressField::column;
      if (below_columns) {
        units_ *= uint64_t(values);
      } else {
        run_ = Divisor(values);
      }
    }
    digits_.push_back({Divisor(values), part.field, at});
    at *= uint64_t(values);
  }
  if (below_columns) units_ = 1;  // rows of one atom
}

RowPiece AddressMap::decode(uint64_t address) const {
  return decode_atom(address / uint64_t(atom_));
}

RowPiece AddressMap::decode_atom(uint64_t atom) const {
  uint64_t rest = atom;
  std::array<uint64_t, kAddressFields> value{};
  for (const Digit& d : digits_) value[size_t(d.field)] += d.radix.take(rest) * d.weight;
  const auto of = [&](AddressField field) { return value[size_t(field)]; };
  uint64_t group = of(AddressField::group), bank = of(AddressField::bank);
  if (hash_) {
    uint64_t digits = of(AddressField::row);
    group = mixed(group, group_.take(digits), group_.count());
    bank = mixed(bank, bank_.take(digits), bank_.count());
  }
  const uint64_t sid = of(AddressField::pc) * sids_ + of(AddressField::sid);  // of the channel
  return {.stack = uint32_t(of(AddressField::stack)),
          .channel = uint32_t(of(AddressField::channel)),
          .bank = uint32_t((sid * group_.count() + group) * bank_.count() + bank),
          .row = uint32_t(of(AddressField::row)),
          .column = uint32_t(of(AddressField::column)),
          .atoms = 1};
}

}  // namespace daybreak::sim
