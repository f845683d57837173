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
    : atom_(c.atom), hash_(c.bank_hash), group_(c.bank_groups), bank_(c.banks) {
  const auto shift = [](int by) { return uint64_t{1} << by; };
  const uint64_t group = uint64_t(c.banks), sid = group * uint64_t(c.bank_groups),
                 pc = sid * uint64_t(c.stack_ids);
  std::array<uint64_t, kAddressFields> weight{};
  const auto of = [&weight](AddressField field) -> uint64_t& { return weight[size_t(field)]; };
  of(AddressField::column) = shift(Packed::kColumn);
  of(AddressField::bank) = shift(Packed::kBank);
  of(AddressField::group) = shift(Packed::kBank) * group;
  of(AddressField::sid) = shift(Packed::kBank) * sid;
  of(AddressField::pc) = shift(Packed::kBank) * pc;
  of(AddressField::channel) = shift(Packed::kChannel);
  of(AddressField::stack) = shift(Packed::kStack);
  of(AddressField::row) = shift(Packed::kRow);
  std::array<int64_t, kAddressFields> below;
  below.fill(1);
  bool below_columns = true;
  for (const AddressPart& part : address_parts(c)) {
    int64_t& low = below[size_t(part.field)];
    const int64_t values = part.values > 0 ? part.values : field_values(c, part.field) / low;
    if (values == 1) continue;
    if (below_columns) {
      below_columns = part.field != AddressField::column;
      if (below_columns) {
        units_ *= uint64_t(values);
      } else {
        run_ = Divisor(values);
      }
    }
    digits_.push_back({Divisor(values), of(part.field) * uint64_t(low)});
    low *= values;
  }
  if (below_columns) units_ = 1;  // rows of one atom
  tabulate();
}

// Digits of powers of two are fields of bits: what bits stand for adds up, so tables of a few bits
// each replace them, as long as the digits fill whole tables; the highest digit stays.
void AddressMap::tabulate() {
  std::vector<uint64_t> bits;  // what each bit stands for
  size_t tabled = 0;
  for (; tabled + 1 < digits_.size(); ++tabled) {
    const uint64_t values = digits_[tabled].radix.count();
    if (!std::has_single_bit(values)) break;
    for (uint64_t v = 1; v < values; v *= 2) bits.push_back(digits_[tabled].weight * v);
  }
  digits_.erase(digits_.begin(), digits_.begin() + int64_t(tabled));
  tabled_bits_ = int(bits.size());
  for (size_t first = 0; first < bits.size(); first += kTableBits) {
    Table& table = tables_.emplace_back();
    for (size_t value = 0; value < table.size(); ++value) {
      table[value] = 0;
      for (size_t b = 0; b < kTableBits && first + b < bits.size(); ++b)
        table[value] += (value >> b & 1) * bits[first + b];
    }
  }
}

RowPiece AddressMap::decode(uint64_t address) const { return decode_atom(atom_of(address)); }

RowPiece AddressMap::decode_atom(uint64_t atom) const {
  uint64_t packed = 0, low = atom, rest = atom >> tabled_bits_;
  for (const Table& table : tables_) {
    packed += table[low & (table.size() - 1)];
    low >>= kTableBits;
  }
  for (const Digit& d : digits_) packed += d.radix.take(rest) * d.weight;
  using P = Packed;
  RowPiece piece{.stack = uint32_t(P::of(packed, P::kStack, P::kRow)),
                 .channel = uint32_t(P::of(packed, P::kChannel, P::kStack)),
                 .bank = uint32_t(P::of(packed, P::kBank, P::kChannel)),
                 .row = uint32_t(P::of(packed, P::kRow, 64)),
                 .column = uint32_t(P::of(packed, P::kColumn, P::kBank)),
                 .atoms = 1};
  if (hash_) hash(piece);
  return piece;
}

void AddressMap::hash(RowPiece& piece) const {
  uint64_t sid = piece.bank, digits = piece.row;
  const uint64_t bank = bank_.take(sid), group = group_.take(sid);
  const uint64_t hashed_group = mixed(group, group_.take(digits), group_.count());
  const uint64_t hashed_bank = mixed(bank, bank_.take(digits), bank_.count());
  piece.bank = uint32_t((sid * group_.count() + hashed_group) * bank_.count() + hashed_bank);
}

}  // namespace daybreak::sim
